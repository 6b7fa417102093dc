"""The repository as the prompts and the gates see it: base with the official test patch applied.

The tree comes out of the instance's image as one archive of its Python files, printed between two
marked lines (`view_script`), and is read here as data: nothing of it is unpacked to disk or run.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import io
import re
import tarfile
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass

from utboost_action.errors import SandboxError
from utboost_action.generation.syntax import UnusableSourceError, parse

_FILE_LIMIT = 2_000_000  # bytes; a larger Python file is data in disguise
_NONCE = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class RepositoryView:
    """The Python files of a tree.

    files: path -> source, for every file that can be read, parsed and edited as text.
    unusable: path -> why not (encoding, line ends, syntax, size); the path exists all the same.
    python: the version of the instance's own Python, for example `3.11.2`; empty where not known.
    """

    files: Mapping[str, str]
    unusable: Mapping[str, str]
    python: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every Python file, usable or not, sorted."""
        return tuple(sorted({*self.files, *self.unusable}))


def view_script(directory: str, nonce: str) -> str:
    """The script that applies `view.patch` and prints the tree's Python files as a base64 archive.

    Those are the files that git tracks and those named in `view.list` (NUL separated), not what an
    installation left lying about, so that the same image gives the same prompts. It runs in the tree's
    environment and exits 9 when the patch does not apply. nonce: hexadecimal.
    """
    if not _NONCE.fullmatch(nonce):
        raise ValueError(f"not hexadecimal: {nonce!r}")
    return f"""UTBOOST_DIR={directory}
. "$UTBOOST_DIR/record/environment" 2>/dev/null
top=$(git rev-parse --show-toplevel) && cd "$top" || exit 8
[ ! -s "$UTBOOST_DIR/view.patch" ] || git apply "$UTBOOST_DIR/view.patch" || exit 9
printf '\\nutboost {nonce} python %s\\n' "$(python -c 'import platform; print(platform.python_version())')"
printf 'utboost {nonce} archive\\n'
{{ git ls-files -z -- '*.py'; cat "$UTBOOST_DIR/view.list"; }} \\
  | tar --null --no-recursion --ignore-failed-read -T - -cz 2>/dev/null | base64
printf '\\nutboost {nonce} end\\n'
"""


def view_from_log(log: bytes, nonce: str) -> RepositoryView:
    """Read what `view_script` printed. Raises SandboxError when the archive is not whole."""
    found = re.search(
        rb"^utboost %s python (?P<python>\S*)\nutboost %s archive\n(?P<data>.*)^utboost %s end$"
        % ((nonce.encode(),) * 3),
        log,
        re.MULTILINE | re.DOTALL,
    )
    if found is None:
        raise SandboxError("the repository's tree could not be read from the image: no archive was printed")
    try:
        archive = base64.b64decode(b"".join(found["data"].split()), validate=True)
        files = _members(archive)
    except (binascii.Error, tarfile.TarError, OSError, EOFError) as problem:
        raise SandboxError(f"the repository's tree could not be read from the image: {problem}") from None
    return view_of(files, python=found["python"].decode("ascii", "replace"))


def view_of(files: Mapping[str, bytes], *, python: str = "") -> RepositoryView:
    """Sort raw files into those that can be read and edited and those that cannot, with the reason."""
    usable: dict[str, str] = {}
    unusable: dict[str, str] = {}
    for path, data in sorted(files.items()):
        try:
            usable[path] = _source(data)
        except ValueError as problem:
            unusable[path] = str(problem)
    return RepositoryView(usable, unusable, python)


def syntax_of(view: RepositoryView, path: str) -> ast.Module | None:
    """The syntax tree of a file, or None where this Python cannot parse it."""
    try:
        return parse(view.files[path])
    except (KeyError, UnusableSourceError):
        return None


def _source(data: bytes) -> str:
    if len(data) > _FILE_LIMIT:
        raise ValueError(f"{len(data)} bytes are more than source code has")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as problem:
        raise ValueError(f"undecodable: {problem}") from None
    if codecs.lookup(encoding).name not in ("utf-8", "ascii") and not text.isascii():
        raise ValueError(f"the encoding is {encoding}, and a diff is UTF-8")
    if "\r" in text:
        raise ValueError("the line ends are not LF")
    return text


def _members(archive: bytes) -> dict[str, bytes]:
    """The regular files of an archive; links, devices and paths out of the tree are left alone."""
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            name = member.name.removeprefix("./")
            if not member.isreg() or name.startswith("/") or ".." in name.split("/"):
                continue
            if (opened := tar.extractfile(member)) is not None:
                files[name] = opened.read(_FILE_LIMIT + 1)
    return files
