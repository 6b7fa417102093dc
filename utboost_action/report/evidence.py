"""What backs a flag: the source of the test that shows it, and the command that shows it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from utboost_action.model import AugmentedTest, Difference

_NAME = re.compile(r"(?:.*::)?(\w+)(?:\[.*)?$")
_DEFINITION = re.compile(r"^(\s*)(?:async\s+)?def\s+(\w+)\s*\(")


@dataclass(frozen=True, slots=True)
class ReproduceCommand:
    """The audit's own command line, to be narrowed to one instance. All parts are quoted for a shell."""

    submission: str
    benchmark: str
    bank: str
    sandbox: str = "docker"
    extra: tuple[str, ...] = ()

    def for_instance(self, instance_id: str) -> str:
        """The command that audits this instance alone."""
        words = ["utboost-action", "audit", self.submission, "--benchmark", self.benchmark]
        if self.bank:
            words += ["--bank", self.bank]
        words += ["--sandbox", self.sandbox, *self.extra, "--instances", instance_id]
        return " ".join(map(shlex.quote, words))


def test_source(difference: Difference, tests: Sequence[AugmentedTest]) -> str:
    """The function behind a difference as the test patch shows it, or else the whole patch; "" if original.

    The patch shows a function only as far as its hunks reach, so a long existing test may begin late.
    """
    patch = next((test.patch for test in tests if test.id == difference.suite), "")
    name = _function_name(difference.test)
    for hunk in _new_sides(patch):
        if lines := _definition(hunk, name):
            return "\n".join(lines)
    return patch


test_source.__test__ = False  # type: ignore[attr-defined]  # pytest: no test


def _function_name(test: str) -> str:
    """`test_x (mod.Class)`, `path::Class::test_x[param]`, `path:test_x` or `test_x` into test_x."""
    match = _NAME.match(test.split(" (")[0].split(":")[-1] if "::" not in test else test)
    return match.group(1) if match else test


def _new_sides(patch: str) -> Iterator[list[str]]:
    """The lines of each hunk after the patch (context and added)."""
    hunk: list[str] = []
    inside = False
    for line in patch.split("\n"):
        if line.startswith("@@ "):
            yield hunk
            hunk, inside = [], True
        elif line.startswith("diff --git "):
            inside = False
        elif inside and line[:1] in (" ", "+", ""):
            hunk.append(line[1:])
    yield hunk


def _definition(lines: list[str], name: str) -> list[str]:
    for start, line in enumerate(lines):
        match = _DEFINITION.match(line)
        if match is None or match.group(2) != name:
            continue
        indent = len(match.group(1))
        end = start + 1
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
            end += 1
        while start and lines[start - 1].strip().startswith("@") and _indent(lines[start - 1]) == indent:
            start -= 1
        return [text[indent:] for text in "\n".join(lines[start:end]).rstrip().split("\n")]
    return []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
