"""What becomes of a bank's entries when the same ones come again, from a file or from experiments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from utboost_action.model import AugmentedTest, ProgramKind, Signals

_KINDS = list(ProgramKind)
_FUNCTION = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Imported:
    """The entries to write, and of how many the bank's own words stay (`kept`) or go (`replaced`).

    replaced: ids of entries that people have decided about, and whose patch the file has otherwise.
    """

    entries: tuple[AugmentedTest, ...]
    kept: int
    replaced: tuple[str, ...]


def imported(now: Sequence[AugmentedTest], new: Iterable[AugmentedTest]) -> Imported:
    """Take entries in. One whose patch the bank has keeps id, standing, decisions and measurements there.

    Where nobody has said or measured anything here and the file brings such words, they are taken over.
    """
    by_patch = {(test.mode, test.patch): test for test in now}
    by_id = {test.id: test for test in now}
    entries: list[AugmentedTest] = []
    kept = 0
    replaced = []
    for test in new:
        known = by_patch.get((test.mode, test.patch))
        if known is None:
            if test.id in by_id and by_id[test.id].signals.decisions:
                replaced.append(test.id)
            entries.append(test)
            continue
        kept += 1
        if not _says_something(known.signals) and _says_something(test.signals):
            entries.append(replace(test, id=known.id))
        else:
            entries.append(replace(known, targets=test.targets or known.targets))
    return Imported(tuple(entries), kept, tuple(replaced))


def measured(
    now: Sequence[AugmentedTest], found: Iterable[AugmentedTest], tried: Collection[ProgramKind]
) -> list[AugmentedTest]:
    """The entries of now with what experiments found: what people said meanwhile stays as it is.

    tried: the kinds of programs that the experiments had; what is known of the other kinds stays. An entry
    that is gone or has another patch by now is left alone.
    """
    by_id = {test.id: test for test in now}
    result = []
    for test in found:
        known = by_id.get(test.id)
        if known is None or (known.mode, known.patch) != (test.mode, test.patch):
            continue
        new = test.signals
        old = [showing for showing in known.signals.showings if showing.kind not in tried]
        fresh = [showing for showing in new.showings if showing.kind in tried]
        signals = replace(
            known.signals,
            showings=tuple(sorted([*fresh, *old], key=lambda showing: _KINDS.index(showing.kind))),
            base_messages=new.base_messages,
            fail_to_pass=new.fail_to_pass,
            pass_to_pass=new.pass_to_pass,
        )
        result.append(replace(known, signals=signals, validation=test.validation))
    return result


def _says_something(signals: Signals) -> bool:
    """Whether anybody measured or decided anything; what a test's author proposes is neither."""
    if signals.issue_proposed:
        signals = replace(signals, issue="", issue_from="")
    return signals != Signals()


def known_tests(entry: AugmentedTest) -> tuple[str, ...]:
    """The tests that the entry names: its targets, and those that experiments have seen."""
    signals = entry.signals
    failing = (test for showing in signals.showings for test in showing.fails)
    seen = (*failing, *signals.base_messages, *signals.fail_to_pass, *signals.pass_to_pass)
    return tuple(dict.fromkeys((*entry.targets, *seen)))


def may_hold(entry: AugmentedTest, test: str) -> bool:
    """Whether the entry may have a test of that name: it is known, or nothing is, or the patch names it."""
    known = known_tests(entry)
    words = [word for word in _FUNCTION.findall(test) if word.startswith("test_")]
    return not known or test in known or any(re.search(rf"\bdef {word}\b", entry.patch) for word in words)
