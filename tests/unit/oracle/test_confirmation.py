"""The rule that combines the signals, row by row as docs/method.md has it."""

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from unit.oracle.oracle_builders import entry, jurors, said, showing, variants

from utboost_action.model import (
    BankStatus,
    Difference,
    DifferenceKind,
    Opinion,
    ProgramKind,
    Signals,
    Standing,
)
from utboost_action.oracle.confirmation import Thresholds, grounds_of, tally_of

METHOD = Path(__file__).resolve().parents[3] / "docs/method.md"
FIX, REGRESSION = DifferenceKind.INCOMPLETE_FIX, DifferenceKind.REGRESSION
DIVERGENCE, UNKNOWN = DifferenceKind.DIVERGENCE, DifferenceKind.UNKNOWN
KILLER = showing(ProgramKind.MUTANT, 9, "new")


def difference(
    kind: DifferenceKind = FIX, repeats: int = 3, fault: str = "", test: str = "new"
) -> Difference:
    return Difference(test, "s", kind, "PASSED", "FAILED", "FAILED", repeats, fault=fault)


def standing(
    signals: Signals, kind: DifferenceKind = FIX, repeats: int = 3, fault: str = "", **more
) -> Standing:
    return grounds_of(entry(signals=signals, **more), difference(kind, repeats, fault), "own").standing


@pytest.mark.parametrize("kind", [FIX, REGRESSION])
def test_two_variants_or_half_a_jury_confirm(kind):
    assert standing(Signals(variants(2)), kind) is Standing.CONFIRMED
    assert standing(Signals(jurors(1, 1)), kind) is Standing.CONFIRMED
    assert standing(Signals(variants(1)), kind) is Standing.OPEN
    assert standing(Signals(jurors(1, 0)), kind) is Standing.OPEN
    assert standing(Signals(), kind) is Standing.OPEN


def test_a_divergence_takes_more():
    assert standing(Signals(variants(4)), DIVERGENCE) is Standing.OPEN
    assert standing(Signals((*variants(4), KILLER)), DIVERGENCE) is Standing.OPEN
    assert standing(Signals(variants(4), issue="it says so"), DIVERGENCE) is Standing.OPEN
    assert standing(Signals((*variants(4), KILLER), issue="it says so"), DIVERGENCE) is Standing.CONFIRMED
    assert standing(Signals(jurors(2, 1)), DIVERGENCE) is Standing.CONFIRMED


def test_what_a_model_quotes_counts_once_a_person_takes_it_up():
    proposed = Signals((*variants(4), KILLER), issue="it says so", issue_from="model:some-model")
    assert standing(proposed, DIVERGENCE) is Standing.OPEN
    grounds = grounds_of(entry(signals=proposed), difference(DIVERGENCE), "own")
    assert "its author, a model, quotes the issue for it" in grounds.words
    assert standing(replace(proposed, issue_from="someone"), DIVERGENCE) is Standing.CONFIRMED


def test_too_few_repeats_or_an_unknown_base_confirm_nothing():
    assert standing(Signals(variants(4)), repeats=2) is Standing.OPEN
    assert standing(Signals((*variants(4), *jurors(4, 0))), UNKNOWN) is Standing.OPEN


def test_one_variant_that_fails_is_doubt_enough():
    signals = Signals((*variants(3), showing(ProgramKind.VARIANT, 7, "new"), *jurors(5, 0)))
    assert standing(signals) is Standing.DOUBTED
    assert standing(Signals((*variants(3), showing(ProgramKind.VARIANT, 7, "other")))) is Standing.CONFIRMED


def test_what_nearly_all_others_fail_may_be_taste():
    assert standing(Signals((*variants(3), *jurors(0, 3)))) is Standing.DOUBTED
    assert standing(Signals((*variants(3), *jurors(1, 4)))) is Standing.DOUBTED
    assert standing(Signals((*variants(3), *jurors(0, 2)))) is Standing.CONFIRMED  # too few to be a jury
    assert standing(Signals((*variants(3), *jurors(1, 2)))) is Standing.CONFIRMED  # it splits them


def test_what_does_not_pass_the_original_tests_has_no_say():
    kept = tuple(showing(ProgramKind.VARIANT, n, plausible=False) for n in range(4))
    unknown = tuple(showing(ProgramKind.VARIANT, n, "new", plausible=None) for n in range(4))
    assert standing(Signals((*kept, *unknown))) is Standing.OPEN


def test_the_candidate_is_no_juror_of_its_own_case_and_equal_patches_count_once():
    own = showing(ProgramKind.JUROR, 0, "new")
    twice = (showing(ProgramKind.JUROR, 1), showing(ProgramKind.JUROR, 1))
    found = entry(signals=Signals((own, *twice)))
    assert (tally_of(found, "new", own.key).jury, tally_of(found, "new").jury) == (1, 2)


def test_people_have_the_last_word():
    narrow = Signals(variants(3, "new"))
    assert standing(narrow) is Standing.DOUBTED
    confirmed = Signals(narrow.showings, decisions=(said(Opinion.CONFIRM),))
    assert standing(confirmed, UNKNOWN, 1) is Standing.CONFIRMED
    disputed = Signals(variants(3), decisions=(said(Opinion.CONFIRM), said(Opinion.DISPUTE)))
    assert standing(disputed, status=BankStatus.CONFIRMED) is Standing.DOUBTED
    of_another = Signals(variants(3), decisions=(said(Opinion.DISPUTE, "other"),))
    assert standing(of_another) is Standing.CONFIRMED
    assert standing(Signals(), status=BankStatus.CONFIRMED) is Standing.CONFIRMED


def test_a_failure_of_the_set_up_is_never_held_against_a_patch():
    signals = Signals(variants(4), decisions=(said(Opinion.CONFIRM),))
    assert standing(signals, fault="network refused") is Standing.DOUBTED


def test_the_thresholds_are_those_of_the_document():
    text = METHOD.read_text()
    for field in fields(Thresholds):
        match = re.search(rf"`{field.name}` *\| *([\d.]+)", text)
        assert match, field.name
        assert float(match[1]) == field.default


def test_the_table_of_the_document_is_the_rule():
    """Each row of the table: words for the signals, and the standing that follows."""
    kinds = {
        "incomplete fix": FIX,
        "regression": REGRESSION,
        "divergence": DIVERGENCE,
        "base unknown": UNKNOWN,
    }
    parts = {
        "2 variants pass": variants(2),
        "1 variant passes": variants(1),
        "a variant fails": (showing(ProgramKind.VARIANT, 8, "new"),),
        "half a jury passes": jurors(2, 2),
        "nearly no juror passes": jurors(0, 4),
        "a mutant killed": (KILLER,),
    }
    section = METHOD.read_text().split("<!-- rule -->")[1].split("<!-- end of rule -->")[0]
    rows = [line.strip("| ").split("|") for line in section.strip().split("\n")[2:]]
    assert len(rows) >= 10
    for kind, signals, result in ([cell.strip() for cell in row] for row in rows):
        words = [word.strip() for word in signals.split(",") if word.strip() not in ("", "-")]
        showings = [shown for word in words for shown in parts.get(word, ())]
        decisions = tuple(
            said({"confirmed": Opinion.CONFIRM, "disputed": Opinion.DISPUTE}[word.split()[0]])
            for word in words
            if word.endswith("by a person")
        )
        issue = "quoted" if "a sentence of the issue" in words else ""
        unknown = [
            w
            for w in words
            if w not in parts and not w.endswith("by a person") and w != "a sentence of the issue"
        ]
        assert not unknown
        found = standing(Signals(tuple(showings), issue=issue, decisions=decisions), kinds[kind])
        assert str(found) == result, (kind, signals)
