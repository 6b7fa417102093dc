import json
from pathlib import Path

import jsonschema
import pytest
from builders import augmented, diff

from utboost_action.model import (
    Audit,
    Cause,
    Claim,
    Difference,
    DifferenceKind,
    Finding,
    Submission,
    Verdict,
    VerdictKind,
)
from utboost_action.report.document import badge_document, rates, report_document
from utboost_action.report.evidence import ReproduceCommand, test_source
from utboost_action.report.render import Detail, plain, render, render_within

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs/report.schema.json").read_text())
COMMAND = ReproduceCommand("a sub", "rows.json", "bank", "docker")


def difference(**changes):
    values = {
        "test": "tests/test_a.py::test_new[x y]",
        "suite": "aug",
        "kind": DifferenceKind.REGRESSION,
        "gold": "PASSED",
        "candidate": "FAILED",
        "base": "PASSED",
        "repeats": 3,
        "message": "AssertionError: @octocat <b>",
        "gold_log": "k/g.gz",
        "candidate_log": "k/c.gz",
    }
    return Difference(**(values | changes))


def audit(count: int = 1, **changes) -> Audit:
    ids = [f"x__y-{n}" for n in range(count)]
    verdicts = (
        *(Verdict(i, VerdictKind.WRONG, ("differs",), True, True, None, True, (difference(),)) for i in ids),
        Verdict("h", VerdictKind.HOLDS, ("agrees",), True, True, None, True),
        Verdict("i", VerdictKind.INCONCLUSIVE, ("no",), True, cause=Cause.NO_IMAGE),
    )
    values = {
        "submission": Submission(
            "a_b",
            Path(),
            "G4",
            "lite",
            {},
            Claim(frozenset([*ids, "h", "i", "not in the split"])),
            findings=(Finding("touches_tests", "t.py", ("h",), "preds:1"),),
        ),
        "benchmark": "rows.json",
        "total": 10 + count,
        "split_ids": frozenset([*ids, "h", "i"]),
        "verdicts": verdicts,
        "tests": {i: (augmented(),) for i in ids},
        "sandbox": "docker",
        "repeats": 3,
    }
    return Audit(**(values | changes))


def test_the_report_fits_its_published_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for value in (audit(), audit(problem="stopped"), audit(notes=("a note",))):
        jsonschema.validate(report_document(value, COMMAND), SCHEMA)
        jsonschema.validate(report_document(value, COMMAND, {"h": True, "i": None}), SCHEMA)


def test_claims_outside_the_split_do_not_count():
    assert rates(audit()).claimed == 3


def test_every_flag_carries_its_evidence():
    document = report_document(audit(), COMMAND)
    (entry,) = [entry for entry in document["instances"] if entry["verdict"] == "WRONG"]
    (shown,) = entry["differences"]
    assert shown["base"] == "PASSED"
    assert shown["status"] == "confirmed"
    assert shown["test_source"] == diff("tests/test_a.py")
    assert entry["reproduce"] == (
        "utboost-action audit 'a sub' --benchmark rows.json --bank bank --sandbox docker --instances x__y-0"
    )


def test_the_source_of_a_test_is_its_function():
    patch = (
        "diff --git a/t.py b/t.py\n--- a/t.py\n+++ b/t.py\n@@ -1,2 +1,9 @@\n import x\n"
        "+\n+    @mark\n+    def test_new(self):\n+        if x:\n+\n+            assert y\n"
        "+\n+    def test_other(self):\n-gone\n"
    )
    names = ["test_new (m.T)", "t.py::T::test_new[a::b]", "t.py::test_new", "test_new", "dir/t.py:test_new"]
    for name in names:
        source = test_source(difference(test=name), (augmented(patch=patch),))
        assert source == "@mark\ndef test_new(self):\n    if x:\n\n        assert y", name
    assert test_source(difference(test="test_absent"), (augmented(patch=patch),)) == patch
    assert test_source(difference(suite="original"), (augmented(patch=patch),)) == ""


def test_markdown_shows_flags_and_nothing_live():
    text = render(report_document(audit(), COMMAND), Detail.FULL)
    assert "### WRONG <code>x&#95;&#95;y&#45;0</code>" in text
    assert "| regression | PASSED | PASSED | FAILED | 3 |" in text
    assert "utboost-action audit 'a sub'" in text
    assert "@octocat" not in text.replace("```text\nAssertionError: @octocat <b>\n```", "")


@pytest.mark.parametrize("limit", [200_000, 30_000, 3_000, 1_200])
def test_the_most_detailed_level_that_fits_is_taken(limit):
    document = report_document(audit(120), COMMAND)
    text = render_within(document, limit)
    assert len(text.encode()) <= limit or text == render(document, Detail.HEADLINE)
    assert text.count("```") % 2 == 0


def test_each_level_says_less():
    document = report_document(audit(20), COMMAND)
    sizes = [len(render(document, level)) for level in Detail]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


def test_a_users_template_extends_ours(tmp_path):
    import jinja2

    (tmp_path / "report.md.j2").write_text(
        '{% extends "utboost/report.md.j2" %}'
        "{% block headline %}Ours: {{ report.submission.name }}{% endblock %}"
    )
    text = render(report_document(audit(), COMMAND), Detail.FULL, loader=jinja2.FileSystemLoader(tmp_path))
    assert "Ours: <code>a&#95;b</code>" in text
    assert "### All instances" in text


def test_plain_text_holds_no_control_characters():
    text = plain(report_document(audit(problem="\x1b[31mx"), COMMAND), "summary.txt.j2")
    assert "WRONG" in text
    assert "\x1b" not in text


def test_badge():
    assert badge_document(rates(audit())) == {
        "schemaVersion": 1,
        "label": "UTBoost audit",
        "message": "claimed 27.3%, adjusted 9.1-18.2%",
        "color": "red",
    }
    broken = badge_document(rates(audit()), "stopped")
    assert broken["isError"] is True
    assert json.dumps(broken).isascii()


def test_badge_colours():
    holds = Verdict("h", VerdictKind.HOLDS, (), True, plausible=True)
    suspect = Verdict("h", VerdictKind.SUSPECT, (), True, plausible=True)
    wrong = Verdict("h", VerdictKind.WRONG, (), True, plausible=True)
    submission = Submission("n", Path(), "G4", None, {}, Claim(frozenset("h")))
    colours = [
        badge_document(rates(audit(0, submission=submission, verdicts=(verdict,), split_ids=frozenset("h"))))[
            "color"
        ]
        for verdict in (holds, suspect, wrong)
    ]
    assert colours == ["brightgreen", "yellow", "red"]
