"""Where the quote stands that an author gives for a test."""

import pytest

from utboost_action.generation.grounding import Ground, Source, ground_of

ISSUE = "Totals are wrong.\nAn empty list\nshould give zero."
SHOWN = 'def total(values):\n    """The sum of all values."""'


@pytest.mark.parametrize(
    ("reason", "ground"),
    [
        ('"An empty list should give zero"', Ground(Source.ISSUE, "An empty list should give zero")),
        ("An empty list should give zero.", Ground(Source.ISSUE, "An empty list should give zero.")),
        ("`The sum of all values.` (docstring)", Ground(Source.SHOWN, "The sum of all values.")),
        ("“Totals are wrong.”, so", Ground(Source.ISSUE, "Totals are wrong.")),
        ('"an empty list should give one"', Ground(Source.NOWHERE, "an empty list should give one")),
        ('"are wrong"', Ground(Source.SHORT, "are wrong")),  # two words stand anywhere
        ('"Totals are right." and "should give zero"', Ground(Source.ISSUE, "should give zero")),
        ("The sum of all values.", Ground(Source.SHOWN, "The sum of all values.")),
        ("`total` says: The sum of all values.", Ground(Source.SHORT, "total")),
        ("it isn't what it wasn't", Ground(Source.NOWHERE, "it isn't what it wasn't")),
        ("", Ground(Source.UNSAID)),
        ("  ", Ground(Source.UNSAID)),
        ('""', Ground(Source.SHORT, '""')),
    ],
)
def test_a_quote_is_looked_up_word_for_word(reason, ground):
    assert ground_of(reason, ISSUE, SHOWN) == ground
