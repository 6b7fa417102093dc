"""A row's eval_script in its parts, and the three edits that a replay makes in it.

The official scripts (swebench 3 to 5, all 800 rows of Lite and Verified) run: environment and install
lines, `git checkout <base> <test files>`, `git apply -v - <<'EOF...'` with the test patch, a Start
marker, the test command, an End marker, the checkout again. A replay edits the heredoc, the markers and
the test command; every other line stays as it is, in its order.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from utboost_action.errors import InputError
from utboost_action.patches import touched_paths, with_final_newline

START = ">>>>> Start Test Output"
END = ">>>>> End Test Output"
OFFICIAL_DELIMITER = "EOF_114329324912"
_APPLY = re.compile(r"^git apply -v - <<\s*'?(?P<delimiter>\w+)'?\s*$")
_NON_TEST_SUFFIXES = frozenset(
    (".json", ".png", ".csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
)


REVERSE_ARGUMENT = "--reverse"


class Order(Enum):
    """How a runner is told to reverse its tests: by `--reverse` (django), by a pytest plugin, not at all."""

    ARGUMENT = "argument"
    PLUGIN = "plugin"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class EvalScript:
    """The parts of an eval_script, each a tuple of whole lines without their ends.

    options: the `set` lines among the preparation; test patches run in a shell of their own and need them.
    preparation: everything before the test files are checked out (activation, install).
    checkout: the checkout of the test files, empty where the script has none.
    before: between the heredoc's end and the Start marker. after: behind the End marker.
    """

    options: tuple[str, ...]
    preparation: tuple[str, ...]
    checkout: tuple[str, ...]
    before: tuple[str, ...]
    test_command: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def order(self) -> Order:
        """How the order of the tests can be turned round."""
        command = " ".join(self.test_command)
        if "runtests.py" in command:
            return Order.ARGUMENT
        return Order.PLUGIN if re.search(r"pytest|tox", command) else Order.FIXED

    def preparation_text(self) -> str:
        """The script that prepares a container, once; `#!` and `set` lines included."""
        return "".join(line + "\n" for line in self.preparation)

    def test_text(self, test_patch: str, nonce: str, directives: tuple[str, ...] = ()) -> str:
        """The script that lays down `test_patch`, runs the tests and exits with the test command's status.

        nonce: ends the markers and the heredoc's delimiter. directives: what the test command names on
        top of the row's own. An empty test patch leaves the heredoc out.
        """
        delimiter = f"EOF_{nonce}"
        if any(line == delimiter for line in test_patch.split("\n")):
            raise InputError("the test patch holds its own heredoc delimiter")  # 128 random bits: forged
        heredoc = [
            f"git apply -v - <<'{delimiter}'",
            *with_final_newline(test_patch).split("\n")[:-1],
            delimiter,
        ]
        command = list(self.test_command)
        if directives:
            command[-1] = " ".join([command[-1].rstrip(), *map(shlex.quote, directives)])
        lines = [
            *self.options,
            *self.checkout,
            *(heredoc if test_patch else ()),
            *self.before,
            f": '{START} {nonce}'",
            *command,
            "{ UTBOOST_STATUS=$?; } 2>/dev/null",
            f": '{END} {nonce}'",
            *self.after,
            "{ exit $UTBOOST_STATUS; } 2>/dev/null",
        ]
        return "".join(line + "\n" for line in lines)

    def official_text(self, test_patch: str, directives: tuple[str, ...], paths: tuple[str, ...]) -> str:
        """The row's script for another test patch, as an official row holds it: bare markers.

        directives: what the test command names in addition; paths: what both checkouts restore in addition.
        """
        more = "".join(f" {shlex.quote(path)}" for path in paths)
        command = list(self.test_command)
        command[-1] = " ".join([command[-1].rstrip(), *map(shlex.quote, directives)])
        lines = [
            *self.preparation,
            *(line.rstrip() + more for line in self.checkout),
            f"git apply -v - <<'{OFFICIAL_DELIMITER}'",
            *with_final_newline(test_patch).split("\n")[:-1],
            OFFICIAL_DELIMITER,
            *self.before,
            f": '{START}'",
            *command,
            f": '{END}'",
            *(line.rstrip() + more if line.startswith("git checkout ") else line for line in self.after),
        ]
        return "".join(line + "\n" for line in lines)

    def new_directives(self, repo: str, test_patch: str) -> tuple[str, ...]:
        """What the test command must name in addition so that all test files of `test_patch` run."""
        named = set(" ".join(self.test_command).split())
        return tuple(d for d in directives_of(repo, test_patch) if d not in named)


def parse_eval_script(text: str) -> EvalScript:
    """Split an eval_script. Raises InputError that says which part it lacks."""
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    opened = next(((n, match) for n, line in enumerate(lines) if (match := _APPLY.match(line))), None)
    if opened is None:
        raise InputError("eval_script: no line `git apply -v - <<'...'` that lays down the test patch")
    apply, match = opened
    closed = _find(lines, match["delimiter"], apply + 1)
    start = _find(lines, f": '{START}'", (closed or 0) + 1)
    end = _find(lines, f": '{END}'", (start or 0) + 1)
    for what, found in (("end of the test patch", closed), ("Start marker", start), ("End marker", end)):
        if found is None:
            raise InputError(f"eval_script: it has no {what}")
    assert closed is not None
    assert start is not None
    assert end is not None
    has_checkout = apply > 0 and lines[apply - 1].startswith("git checkout ")
    first = apply - 1 if has_checkout else apply
    command = tuple(lines[start + 1 : end])
    if not any(line.strip() for line in command):
        raise InputError("eval_script: no test command between the markers")
    return EvalScript(
        options=tuple(line for line in lines[:first] if line.startswith("set ")),
        preparation=tuple(lines[:first]),
        checkout=tuple(lines[first:apply]),
        before=tuple(lines[closed + 1 : start]),
        test_command=command,
        after=tuple(lines[end + 1 :]),
    )


def directives_of(repo: str, test_patch: str) -> tuple[str, ...]:
    """The tests that a test patch is about, as the repository's runner names them.

    Every touched file whose ending is not that of data (rule of swebench 2 to 4); django's runner
    takes dotted labels below `tests/`, the others file paths.
    """
    paths = [
        path for path in touched_paths(test_patch) if PurePosixPath(path).suffix not in _NON_TEST_SUFFIXES
    ]
    if repo != "django/django":
        return tuple(paths)
    return tuple(path.removesuffix(".py").removeprefix("tests/").replace("/", ".") for path in paths)


def _find(lines: list[str], wanted: str, begin: int) -> int | None:
    return next((n for n in range(begin, len(lines)) if lines[n] == wanted), None)
