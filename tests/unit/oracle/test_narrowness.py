"""Names that only gold brings, and what a test that asks for one is worth."""

import pytest
from unit.oracle.oracle_builders import F, P, entry, jurors, side, variants

from utboost_action.model import DifferenceKind, Signals, VerdictKind
from utboost_action.oracle.narrowness import asks_for, names_of_gold
from utboost_action.oracle.verdicts import Sides, judge

GOLD_PATCH = """diff --git a/slugs.py b/slugs.py
--- a/slugs.py
+++ b/slugs.py
@@ -1,4 +1,8 @@
 import re
+def words_of(title):
+    return re.findall("[a-z]+", title)
 def other(title):
-def slugify(title):
-    return title.lower()
+def slugify(title, joint="-"):
+    return joint.join(words_of(title.lower()))
"""


def test_names_that_gold_adds_and_the_issue_does_not_speak_of():
    names = names_of_gold(GOLD_PATCH, "slugify keeps punctuation")
    assert {"words_of", "joint"} <= names
    assert not {"title", "lower", "re", "slugify", "other"} & names
    assert "slugify" in names_of_gold(GOLD_PATCH, "punctuation is kept")  # its signature is gold's
    assert "joint" not in names_of_gold(GOLD_PATCH, "slugify should take a joint")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("AttributeError: module 'slugs' has no attribute 'words_of'", "words_of"),
        ("ImportError: cannot import name 'words_of' from 'slugs' (slugs.py)", "words_of"),
        ("NameError: name 'words_of' is not defined", "words_of"),
        ("TypeError: slugify() got an unexpected keyword argument 'joint'", "joint"),
        ("TypeError: words_of() takes 1 positional argument but 2 were given", "words_of"),
        ("ModuleNotFoundError: No module named 'slugs.words_of'", "words_of"),
        ("AttributeError: 'functools.partial' object has no attribute '__name__'", ""),
        ("AssertionError: words_of", ""),
        ("", ""),
    ],
)
def test_what_a_message_says_is_not_there(message: str, name: str):
    assert asks_for(message, frozenset(("words_of", "joint"))) == name


def test_such_a_test_takes_more_than_rewritings_of_gold():
    told = {"new": "AttributeError: module 'slugs' has no attribute 'words_of'"}
    gold = side([{"a": P}] * 3, [{"a": P, "new": P}] * 3)
    candidate = side([{"a": P}] * 3, [{"a": P, "new": F}] * 3, told)
    base = side([{"a": F}] * 2, [{"a": F, "new": F}] * 2, told)

    def found(issue: str, *showings):
        sides = Sides(
            *("x__y-1", True, gold, base, candidate, None, (), (entry(signals=Signals(showings)),)),
            gold_names=names_of_gold(GOLD_PATCH, issue),
        )
        return judge(sides)

    narrow = found("punctuation is kept", *variants(4))
    assert (narrow.kind, narrow.differences[0].kind) == (VerdictKind.SUSPECT, DifferenceKind.DIVERGENCE)
    assert found("there should be a function words_of", *variants(4)).kind is VerdictKind.WRONG
    assert found("punctuation is kept", *variants(4), *jurors(2, 0)).kind is VerdictKind.WRONG
