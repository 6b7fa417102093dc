"""From the text of one reply to its units: everything that can be judged without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from utboost_action.generation.additions import additions_of
from utboost_action.generation.asking import Reply
from utboost_action.generation.assembly import files_of, with_unique_names
from utboost_action.generation.blocks import read_reply
from utboost_action.generation.edits import apply_reply
from utboost_action.generation.gates import Gate, RejectedError, Tally
from utboost_action.generation.hygiene import check_unit
from utboost_action.generation.official import OfficialPatch
from utboost_action.generation.repository import RepositoryView
from utboost_action.generation.syntax import UnusableSourceError, parse
from utboost_action.generation.units import Unit, renamed, units_of


@dataclass(frozen=True, slots=True)
class Sample:
    """One reply and how it was asked for. label: names it in reports, the same in every run."""

    label: str
    request_hash: str
    temperature: float
    reply: Reply


def units_of_sample(
    sample: Sample, view: RepositoryView, official: OfficialPatch, tally: Tally
) -> tuple[Unit, ...]:
    """The units of a reply that pass every static gate; each rejection is counted.

    An edit that cannot be applied, or changed code, turns the whole reply away; a rule that one test
    breaks turns away that test alone. A reply that was cut is turned away whole, since its last test
    is half a test.
    """
    if sample.reply.cut:
        tally.reject(Gate.CUT_REPLY, sample.label, "the reply ended at its length limit")
        return ()
    try:
        written = read_reply(sample.reply.text)
        edited = apply_reply(written, view, official.paths)
        additions = [
            one for path, text in edited.changed.items() for one in additions_of(path, view.files[path], text)
        ] + [one for path, text in edited.new.items() for one in additions_of(path, "", text)]
        units = units_of(sample.label, additions, set(edited.new))
    except RejectedError as refused:
        tally.reject(refused.gate, sample.label, refused.detail)
        return ()
    except RecursionError:
        tally.reject(Gate.UNPARSABLE, sample.label, "nested too deeply")
        return ()
    kept = []
    for unit in units:
        try:
            check_unit(unit)
            _check_composition(unit, view)
        except RejectedError as refused:
            tally.reject(refused.gate, f"{sample.label} {unit.test}", refused.detail)
            continue
        kept.append(replace(unit, reason=written.reasons.get(unit.test, "")))
    return tuple(kept)


def merged(units: Sequence[Unit], tally: Tally) -> tuple[Unit, ...]:
    """The first of each set of equal units, in order; the others are counted as duplicates."""
    first: dict[str, Unit] = {}
    for unit in units:
        if unit.key in first:
            tally.reject(Gate.DUPLICATE, f"{unit.sample} {unit.test}", f"as in {first[unit.key].sample}")
        else:
            first[unit.key] = unit
    return tuple(first.values())


def _check_composition(unit: Unit, view: RepositoryView) -> None:
    """The unit taken out of its sample and put into the original must still be Python, and can be renamed."""
    renamed(unit, f"{unit.test}_2", unit.new_class)
    for path, text in files_of(with_unique_names([unit], view), view).items():
        try:
            parse(text)
        except UnusableSourceError as problem:
            raise RejectedError(Gate.UNPARSABLE, f"{path} with this test alone: {problem}") from None
