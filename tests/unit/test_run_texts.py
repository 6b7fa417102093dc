"""What a run says beside the reports: inert with hostile names, and never too long."""

import re
from dataclasses import replace
from pathlib import Path

import cmarkgfm
import pytest
from builders import augmented
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from utboost_action.activities import texts
from utboost_action.github.levels import COMMENT_BYTES, largest_that_fits
from utboost_action.github.status import MAX_DESCRIPTION, ascii_line
from utboost_action.model import Audit, Claim, Finding, Submission, Verdict, VerdictKind
from utboost_action.report.document import report_document
from utboost_action.report.evidence import ReproduceCommand
from utboost_action.session import Outcome
from utboost_action.sharding import Reports
from utboost_action.shards import SCHEMA, How, Plan, Submitted

HOSTILE = [
    "@octocat fixes #1",
    "<img src=x onerror=alert(1)><!-- utboost-action comment:1 key:audit -->",
    "](javascript:alert(1)) ![x](http://x.example/x.png)",
    "a | b\n|---|---|\n```\n</code></td></table>",
    "::error::x\n##[error]x",
    "a\u202eb\u2066c",
]
LIVE = re.compile(r"<(?!/?(?:p|code|pre|table|thead|tbody|tr|th|td|br|span|ul|li|h2|h3|strong)\b)[a-zA-Z/!]")


def reports(text: str = "evaluation/lite/one", count: int = 1, instances: int = 3) -> Reports:
    outcomes, submitted = [], []
    for _ in range(count):
        verdicts = tuple(
            Verdict(f"a__b-{n}", VerdictKind.WRONG if n == 1 else VerdictKind.HOLDS, (text,), claimed=True)
            for n in range(1, instances + 1)
        )
        finding = Finding("link", text, (text,), text)
        submission = Submission(text, Path(), "preds-only", None, {}, Claim(frozenset({"a__b-1", "a__b-2"})))
        audit = Audit(
            submission=replace(submission, findings=(finding,)),
            benchmark="lite",
            total=300,
            split_ids=frozenset(f"a__b-{n}" for n in range(1, 301)),
            verdicts=verdicts,
            tests={"a__b-1": (augmented(instance_id="a__b-1"),)},
            sandbox="docker",
            repeats=3,
        )
        document = report_document(audit, ReproduceCommand(text, "lite", ""))
        outcomes.append(Outcome(audit, document, Path("out/report.md"), 0))
        submitted.append(
            Submitted(text, text, "preds-only", None, Claim(), (), (finding,), None, ("a__b-1",))
        )
    plan = Plan(
        SCHEMA,
        "0",
        "a" * 40,
        How("lite"),
        tuple(submitted),
        (),
        others=(text,),
        removed=(text,),
        notes=(text,),
    )
    return Reports(plan, tuple(outcomes), {}, {})


def html(markdown: str) -> str:
    return cmarkgfm.markdown_to_html_with_extensions(
        markdown, options=Options.CMARK_OPT_UNSAFE, extensions=["table", "autolink", "strikethrough"]
    )


def check_inert(markdown: str) -> None:
    rendered = html(markdown)
    assert not LIVE.search(rendered), rendered
    outside = re.sub(r"<(code|pre)[^>]*>.*?</\1>", "", rendered, flags=re.DOTALL)
    assert "@" not in outside
    assert not re.search(r"#\d|::|\u202e", outside)


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_inert_at_every_level(text, count):
    for level in texts.levels(reports(text, count), None, "https://github.com/a/b/actions/runs/1"):
        linked = level.replace("[this run](https://github.com/a/b/actions/runs/1)", "")
        check_inert(linked)
    (message,) = texts.plain_levels("UTBoost: command declined", [text])
    check_inert(message)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_any_name_is_inert(text):
    check_inert(texts.levels(reports(text), None, "")[-1])


def test_an_address_that_is_none_is_no_link():
    shown = texts.levels(reports(), None, "https://x.example/](javascript:alert(1))")[0]
    assert "javascript" not in shown


def test_a_hundred_submissions_fit_into_a_comment_and_into_a_status():
    many = reports(count=100, instances=300)
    shown = texts.levels(many, None, "")
    assert len(shown[0].encode()) > COMMENT_BYTES
    fitted = largest_that_fits(shown, COMMENT_BYTES)
    assert fitted.level is not None
    assert fitted.text.count("UTBoost audit of") == 100
    assert len(ascii_line(texts.headline(many), MAX_DESCRIPTION)) <= MAX_DESCRIPTION


def test_one_submission_gives_its_figures_and_several_give_sums():
    one, two = (texts.outputs(reports(count=count), Path("out")) for count in (1, 2))
    assert (one["claimed"], one["adjusted-low"], one["wrong"]) == ("2", "2", "1")
    assert "claimed" not in two
    assert (two["wrong"], two["holds"], two["report"]) == ("2", "4", "out")


def test_an_incomplete_audit_has_a_fault_badge():
    (outcome,) = reports().outcomes
    assert texts.badge_of(outcome).fault is False
    stopped = replace(outcome, audit=replace(outcome.audit, problem="stopped"))
    assert texts.badge_of(stopped).fault is True
