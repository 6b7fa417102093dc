"""The shell scripts that run inside a sandbox. They hold no text from outside: patches and paths are files.

All of them run in the tree, with `$UTBOOST_DIR` a folder outside it. Values that are set in (a commit id,
a nonce) are checked to be hexadecimal first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_HEX = re.compile(r"[0-9a-f]{8,64}")
_WORD = re.compile(r"[A-Za-z0-9_+/-]{1,64}")

RECORD = "record"  # what the preparation leaves for the test runs: environment, work folder, git index

REVERSED_PLUGIN = {
    "order/utboost_reversed.py": b"""def pytest_collection_modifyitems(items):
    items.reverse()
"""
}

APPLY_NAMES = ("git apply", "git apply --3way", "git apply --reject", "patch --fuzz=5", "already applied")

# no hook and no file watcher of the tree runs when git is called, whatever a patch put below .git
_PLAIN_GIT = """export GIT_CONFIG_COUNT=2
export GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false"""


def apply_script(directory: str, nonce: str) -> str:
    """Apply `candidate.patch` by the official chain (swebench 5) with a clean tree between the tries.

    Prints `utboost NONCE base SHA` and `utboost NONCE applied NAME`; exits 0 when the patch is in,
    9 when no command took it. Then puts the files of `revert.list` (NUL separated) back to the base,
    with gold's own change to them (`gold.patch`) where there is one. Prints `utboost NONCE touched PATH`
    for every file that differs from before, ignored ones included, as the shell quotes it; git's own
    configuration is put back, for `patch` may write below `.git`.
    """
    return f"""UTBOOST_DIR={directory}
{_PLAIN_GIT}
tell() {{ printf '\\nutboost {_hex(nonce)} %s\\n' "$*"; }}
base=$(git rev-parse HEAD) || exit 8
tell base "$base"
patch_file="$UTBOOST_DIR/candidate.patch"
clean() {{ git reset -q --hard "$base" && git clean -fdq; }}
put_back() {{
  while IFS= read -r -d '' path; do
    rm -rf -- "$path"
    git checkout -q "$base" -- "$path" 2>/dev/null
    [ ! -s "$UTBOOST_DIR/gold.patch" ] || git apply --include="$path" "$UTBOOST_DIR/gold.patch"
  done < "$UTBOOST_DIR/revert.list"
}}
files() {{ git ls-files -z --others | sort -z; }}
won() {{
  cp "$UTBOOST_DIR/git-config" "$git_config"
  tell applied "$1"
  {{ git diff -z --name-only "$base"; files | comm -z -13 "$UTBOOST_DIR/files.before" -; }} |
    while IFS= read -r -d '' path; do tell touched "$(printf %q "$path")"; done
  put_back
  exit 0
}}
[ -s "$patch_file" ] || {{ put_back; exit 0; }}
git_config=$(git rev-parse --absolute-git-dir)/config
cp "$git_config" "$UTBOOST_DIR/git-config" && files > "$UTBOOST_DIR/files.before" || exit 8
git apply --verbose "$patch_file" && won 'git apply'
clean; git apply --verbose --3way "$patch_file" && won 'git apply --3way'
clean; git apply --verbose --reject "$patch_file" && won 'git apply --reject'
clean; patch --batch --forward --fuzz=5 -p1 -i "$patch_file" && won 'patch --fuzz=5'
clean; git apply --check --reverse "$patch_file" && won 'already applied'
clean
exit 9
"""


def prepare_script(directory: str) -> str:
    """Run the row's preparation, then record its environment and the tree that every test run starts from.

    What the preparation exports is taken over by the later scripts; files that git ignores (compiled
    modules, caches) are not part of the record and stay.
    """
    return f"""UTBOOST_DIR={directory}
. "$UTBOOST_DIR/preparation.sh"
{{ set +xeu; }} 2>/dev/null
{_PLAIN_GIT}
record="$UTBOOST_DIR/{RECORD}" && rm -rf "$record" && mkdir "$record" || exit 8
export -p > "$record/environment"
pwd > "$record/folder"
top=$(git rev-parse --show-toplevel) && cd "$top" || exit 8
git_dir=$(git rev-parse --absolute-git-dir) || exit 8
git update-index -q --refresh # once for all: an image's index has the dates of its making
cp "$git_dir/index" "$record/index" || exit 8
GIT_INDEX_FILE="$record/index" git add -A || exit 8
"""


def run_script(
    directory: str, base: str, nonce: str, *, reset: bool, environment: Mapping[str, str] | None = None
) -> str:
    """Lay down `NONCE/test.patch` over clean test files and run `NONCE/tests.sh` in the prepared environment.

    The files that the test patch names (`NONCE/paths.list`, NUL separated) are put back to the base
    first, or removed when the base lacks them, whatever the candidate made of them. environment: what
    this repeat sets (`order` is no variable: pytest reverses its tests by a plugin). Prints
    `utboost NONCE test patch does not apply` when it does not; exits with the test command's status.
    """
    reset_tree = f"""export GIT_INDEX_FILE="$UTBOOST_DIR/{RECORD}/index"
git checkout-index -f -a -q && git clean -fdq || fail 'the tree cannot be reset'
unset GIT_INDEX_FILE"""
    return f"""UTBOOST_DIR={directory}
fail() {{ printf '\\nutboost {_hex(nonce)} %s\\n' "$1"; exit 8; }}
. "$UTBOOST_DIR/{RECORD}/environment" 2>/dev/null
{_PLAIN_GIT}
{_exports(environment or {})}
top=$(git rev-parse --show-toplevel) && cd "$top" || fail 'the tree is no repository any more'
{reset_tree if reset else ":"}
run="$UTBOOST_DIR/{_hex(nonce)}"
while IFS= read -r -d '' path; do
  if git cat-file -e "{_hex(base)}:$path" 2>/dev/null; then
    git checkout -q {_hex(base)} -- "$path" || fail 'a test file cannot be put back'
  else
    rm -rf -- "$path"
  fi
done < "$run/paths.list"
[ ! -s "$run/test.patch" ] || git apply --check "$run/test.patch" || fail 'test patch does not apply'
cd "$(cat "$UTBOOST_DIR/{RECORD}/folder")" || fail 'the work folder is gone'
exec bash "$run/tests.sh"
"""


def _exports(environment: Mapping[str, str]) -> str:
    """Shell lines that set what a repeat varies. Raises ValueError for what is no plain word."""
    lines = []
    for name, value in environment.items():
        if not _WORD.fullmatch(name) or not _WORD.fullmatch(value):
            raise ValueError(f"no plain variable of a repeat: {name}={value!r}")
        if name != "order":
            lines.append(f"export {name}='{value}'")
        elif value == "reversed":
            lines.append('export PYTHONPATH="$UTBOOST_DIR/order${PYTHONPATH:+:$PYTHONPATH}"')
            lines.append('export PYTEST_ADDOPTS="-p utboost_reversed ${PYTEST_ADDOPTS:-}"')
    return "\n".join(lines) or ":"


def nul_list(paths: tuple[str, ...]) -> bytes:
    """Paths for `read -d ''`: UTF-8, each ended by NUL; what is not inside the tree is left out."""
    inside = [path for path in paths if not path.startswith("/") and ".." not in path.split("/")]
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in inside if "\0" not in path)


def _hex(value: str) -> str:
    if not _HEX.fullmatch(value):
        raise ValueError(f"not hexadecimal: {value!r}")
    return value
