"""Foreign text is inert wherever a report puts it: shown by rendering it as GitHub would."""

import re

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.report.escaping import block, inline, printable
from utboost_action.report.render import prose

HOSTILE = [
    "@octocat please look",
    "fixes #1, closes owner/repo#2, GH-3",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "![x](https://example.com/x.png) [y](javascript:alert(1)) https://example.com www.example.com",
    "a | b\n|---|---|\n| c | d |",
    "```\n</code></td></table>",
    "<!-- utboost-action: marker -->",
    "::error::owned\n##[error]owned",
    "abc‮def⁦ghi",
    "&lt;b&gt; &#64;octocat \\@octocat",
    "x" * 5000,
    "`@octocat` ``a`` \x00\x1b[31mred",
    "write to someone@example.com or mailto:someone@example.com",
    "*a* _b_ ~~c~~ $x$ :tada:",
]
EXTENSIONS = ["table", "autolink", "strikethrough", "tagfilter", "tasklist"]
LIVE = re.compile(r"<(?!/?(?:p|code|pre|table|thead|tbody|tr|th|td|br|span)\b)[a-zA-Z/!]")


def html(markdown: str) -> str:
    return cmarkgfm.markdown_to_html_with_extensions(
        markdown, options=Options.CMARK_OPT_UNSAFE, extensions=EXTENSIONS[:3]
    )


def outside_code(rendered: str) -> str:
    return re.sub(r"<code[^>]*>.*?</code>", "", rendered, flags=re.DOTALL)


@pytest.mark.parametrize("text", HOSTILE)
def test_inline_is_one_inert_code_element(text):
    rendered = html(f"before {inline(text)} after")
    assert not LIVE.search(rendered)
    assert outside_code(rendered).strip() == "<p>before  after</p>"


@pytest.mark.parametrize("text", HOSTILE)
def test_inline_is_one_cell_of_a_table(text):
    rendered = html(f"| a | b |\n|---|---|\n| {inline(text)} | next |\n")
    assert rendered.count("<td>") == 2
    assert "<td>next</td>" in rendered
    assert not LIVE.search(rendered)


@pytest.mark.parametrize("text", HOSTILE)
def test_block_is_one_inert_block(text):
    rendered = html(f"before\n\n{block(text)}\n\nafter")
    assert rendered.count("<pre>") == 1
    assert re.sub(r"<pre>.*</pre>", "", rendered, flags=re.DOTALL).split() == [
        "<p>before</p>",
        "<p>after</p>",
    ]


@given(st.text())
def test_any_text_is_inert(text):
    rendered = html(f"| a | b |\n|---|---|\n| {inline(text)} | next |\n\n{block(text)}\n\nafter")
    assert not LIVE.search(rendered)
    assert rendered.count("<td>") == 2
    assert rendered.endswith("<p>after</p>\n")


@given(st.text(alphabet="abcdefGH-0123456789 ,.;:()'_w@#/<"))
def test_prose_shows_only_what_cannot_be_live(text):
    rendered = html(prose(text))
    assert not LIVE.search(rendered)
    assert not re.search(r"[@#/]|GH-\d|www\.", outside_code(rendered.replace("</p>", "").replace("<p>", "")))


def test_our_own_sentences_stay_readable():
    sentence = "differs from gold on 2 tests of a confirmed augmented test (incomplete fix, regression)"
    assert prose(sentence) == sentence
    assert prose("NOT_PLAUSIBLE") == "NOT_PLAUSIBLE"


def test_long_text_is_cut_and_says_so():
    assert inline("y" * 500, 20).count("y") == 17
    assert "more characters" in block("line\n" * 5000, 100)


def test_printable_drops_controls_and_direction_marks():
    assert printable("a\x00\x1b[1mb‮\ud800\tc\nd") == "a[1mb\tc\nd"
