"""The alias layer: which real test ids an official test name stands for in one log.

The official lists hold what the official parsers made of a log: docstrings, bare method names, ids cut at
a space, rewritten parameters. A correct reading holds the runner's ids. Each rule below undoes one of the
official rewrites; aliases come from the log and the benchmark's row, never from a submission's claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property

from utboost_action.model import ParsedLog, TestStatus


class AliasRule(StrEnum):
    """How a listed name was found in the log; the value says it in words."""

    EXACT = "the id itself"
    DOCSTRING = "docstring of the test"
    BARE_NAME = "bare method name"
    UNITTEST_ID = "id in the form of another Python version"
    CUT_ID = "id cut at a space"
    REWRITTEN = "id rewritten by the official parser"
    MIGRATION = "id glued to a line of migration output"
    SYMPY_FILE = "function of a file of the test patch"
    ARTEFACT = "no test: an artefact of the official parser"
    EVENT = "covered by a failed or skipped set-up, module or file"
    MISSING = "not in the log"


@dataclass(frozen=True, slots=True)
class Standing:
    """What one official name stands for: ids of `statuses`, or of `events` where the rule is EVENT.

    ambiguous: several tests share the name. must_agree: the official reading keeps only one of them,
    so they settle nothing unless they agree on pass or not.
    """

    name: str
    rule: AliasRule
    ids: tuple[str, ...] = ()

    @property
    def ambiguous(self) -> bool:
        """Whether the name stands for more than one test."""
        return len(self.ids) > 1

    @property
    def must_agree(self) -> bool:
        """Whether the tests behind the name settle nothing unless they agree."""
        return self.rule in (AliasRule.CUT_ID, AliasRule.REWRITTEN)


_VERSION_ARTEFACT = "--version is equivalent to version"

_MIGRATION_PREFIX = re.compile(r"Applying [^ ]+?\.\.\.(?=\w)")
_METHOD_ID = re.compile(r"(\S+) \(([\w.]+)\)")
_CLASS_EVENT = re.compile(r"(?:setUp|tearDown)(?:Class|Module) \(([\w.]+)\)")
_FAILED_MODULE = re.compile(r"([\w.]+) \(unittest\.loader\._FailedTest[\w.]*\)")
_COLOUR = re.compile(r"\[\d+m")


def is_artefact(name: str) -> bool:
    """Whether a listed name is known to be no test: a piece of a progress line, or a hard-coded sentence.

    In the published lists: `[100%]`, `[` and `[100%]---...` of three pytest instances, and one sentence of
    django's, which is a docstring where the log prints it as one.
    """
    return name.startswith("[") or name == _VERSION_ARTEFACT


class AliasLayer:
    """The names of one log. `test_files` are the paths of the official test patch."""

    def __init__(self, parsed: ParsedLog, test_files: Sequence[str] = ()) -> None:
        self._parsed = parsed
        self._files = tuple(test_files)
        self._rules: tuple[tuple[AliasRule, Callable[[str], Iterable[str]]], ...] = (
            (AliasRule.EXACT, self._exact),
            (AliasRule.DOCSTRING, lambda name: self._by_docstring.get(name.strip(), ())),
            (AliasRule.BARE_NAME, self._bare_name),
            (AliasRule.UNITTEST_ID, self._unittest_id),
            (AliasRule.SYMPY_FILE, self._sympy_file),
            (AliasRule.CUT_ID, self._cut_id),
            (AliasRule.REWRITTEN, self._rewritten),
            (AliasRule.EVENT, self._covering_events),
        )

    def standing(self, name: str) -> Standing:
        """Return the ids that a listed name stands for, by the first rule that finds any."""
        for rule, find in self._rules:
            ids = tuple(dict.fromkeys(find(name)))
            if ids:
                return Standing(name, rule, ids)
        if is_artefact(name):
            return Standing(name, AliasRule.ARTEFACT)
        unglued = _MIGRATION_PREFIX.sub("", name, count=1)
        if unglued != name:
            found = self.standing(unglued)
            if found.ids:
                return Standing(name, AliasRule.MIGRATION, found.ids)
        return Standing(name, AliasRule.MISSING)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Up to three ids that look like a missing name; looks at 2,000 candidates at most."""
        head = re.split(r"[\[ ]|::", name, maxsplit=1)[0]
        likely = [test for test in self._parsed.statuses if head in test] or list(self._parsed.statuses)
        return tuple(get_close_matches(name, likely[:2000], n=3))

    # ------------------------------------------------------------------ rules

    def _exact(self, name: str) -> Iterable[str]:
        plain = name.replace("::()::", "::")
        return [test for test in (name, plain) if test in self._parsed.statuses][:1]

    @cached_property
    def _by_docstring(self) -> Mapping[str, list[str]]:
        # The official django parser cuts a docstring at its first " ... " when output follows it.
        index: dict[str, list[str]] = {}
        for test, docstring in self._parsed.docstrings.items():
            if test in self._parsed.statuses:
                for form in {docstring.strip(), docstring.partition(" ... ")[0].strip()}:
                    index.setdefault(form, []).append(test)
        index.pop("", None)
        return index

    @cached_property
    def _by_method(self) -> Mapping[str, list[str]]:
        index: dict[str, list[str]] = {}
        for test in self._parsed.statuses:
            method, space, _ = test.partition(" (")
            if space:
                index.setdefault(method, []).append(test)
        return index

    def _bare_name(self, name: str) -> Iterable[str]:
        return self._by_method.get(name, ())

    def _unittest_id(self, name: str) -> Iterable[str]:
        found = _METHOD_ID.fullmatch(name)
        if found is None:
            return ()
        method, owner = found.groups()
        other = owner.removesuffix(f".{method}") if owner.endswith(f".{method}") else f"{owner}.{method}"
        return [test for test in (f"{method} ({other})",) if test in self._parsed.statuses]

    def _sympy_file(self, name: str) -> Iterable[str]:
        path, colon, function = name.rpartition(":")
        if colon and path in self._files:
            return [function] if function in self._parsed.statuses else ()
        return [test for file in self._files if (test := f"{file}:{name}") in self._parsed.statuses]

    def _cut_id(self, name: str) -> Iterable[str]:
        if name.count("[") <= name.count("]"):
            return ()
        # The ids cut at just this place come first: a prefix alone would also take in the ids of
        # longer parameters.
        cut = self._by_first_word.get(name)
        return cut or [test for test in self._parsed.statuses if test.startswith(name)]

    @cached_property
    def _by_first_word(self) -> Mapping[str, list[str]]:
        index: dict[str, list[str]] = {}
        for test in self._parsed.statuses:
            if " " in test:
                index.setdefault(test.split(None, 1)[0], []).append(test)
        return index

    @cached_property
    def _by_rewrite(self) -> Mapping[str, list[str]]:
        index: dict[str, list[str]] = {}
        for test in self._parsed.statuses:
            for form in official_forms(test) - {test}:
                index.setdefault(form, []).append(test)
        return index

    def _rewritten(self, name: str) -> Iterable[str]:
        if name in self._by_rewrite:
            return self._by_rewrite[name]
        bare = _without_reason(name)
        return self._exact(bare) if bare != name else ()

    def _covering_events(self, name: str) -> Iterable[str]:
        failed = self._failed_events
        if "::" in name:
            file = name.partition("::")[0]
            return [event for event in failed if event == file]
        found = _METHOD_ID.fullmatch(name)
        if found is None:
            path = name.rpartition(":")[0]
            files = (path,) if path else self._files
            return [event for event in failed if event in files]
        owner = found[2]
        return [event for event in failed if _covers(event, owner)]

    @cached_property
    def _failed_events(self) -> Sequence[str]:
        """Events that did not pass; a module that could not be imported is a test of its own in unittest."""
        modules = (test for test in self._parsed.statuses if "._FailedTest" in test)
        return (*(event for event, status in self._parsed.events.items() if not status.passes), *modules)


def _covers(event: str, owner: str) -> bool:
    """Whether a class, module or import event is about the class `owner` (dotted)."""
    found = _CLASS_EVENT.fullmatch(event) or _FAILED_MODULE.fullmatch(event)
    return found is not None and (owner == found[1] or owner.startswith(f"{found[1]}."))


def _without_reason(name: str) -> str:
    """Cut ` - reason` off at the first place outside brackets."""
    depth = 0
    for index, letter in enumerate(name):
        depth += (letter == "[") - (letter == "]")
        if depth <= 0 and name.startswith(" - ", index):
            return name[:index]
    return name


def official_forms(test: str) -> set[str]:
    """Return what the official pytest parsers make of an id, by any of them."""
    first = test.split(None, 1)[0] if test.strip() else test
    mouse = test.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3")
    forms = {first, mouse, mouse.split(None, 1)[0] if mouse.strip() else mouse}
    start, end = first.find("["), first.rfind("]")
    if 0 <= start < end:
        option = first[start + 1 : end]
        if option.startswith("/") and not option.startswith("//") and "*" not in option:
            forms.add(f"{first[:start]}[/{option.rsplit('/', 1)[-1]}]")
        else:
            forms.add(first[: end + 1])
    forms.add(" ".join(_COLOUR.sub("", test).split()))
    return forms


def worst(statuses: Iterable[TestStatus]) -> TestStatus:
    """Return the status that outranks the others where several tests share a name."""
    return min(statuses, key=_SEVERITY.index)


_SEVERITY = (
    TestStatus.ERROR,
    TestStatus.FAILED,
    TestStatus.XPASS,
    TestStatus.SKIPPED,
    TestStatus.XFAIL,
    TestStatus.PASSED,
)
