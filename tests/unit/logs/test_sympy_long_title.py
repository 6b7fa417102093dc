"""A failure's title that is too long for its padding stands bare behind the rule."""

from utboost_action.logs import read_log
from utboost_action.model import TestStatus

NAME = "test_a_name_so_long_that_no_underscore_fits_beside_it_on_one_line"
LOG = f"""{"=" * 29} test process starts {"=" * 30}

sympy/matrices/expressions/tests/test_a.py[2]
{NAME} E
test_b ok{" " * 66}[FAIL]

{"_" * 80}
 sympy/matrices/expressions/tests/test_a.py:{NAME}{" "}
Traceback (most recent call last):
  File "x.py", line 1, in f
ValueError: wrong
{NAME} ok
                       [OK]

{"=" * 16} tests finished: 1 passed, 1 exceptions, in 0.01 seconds {"=" * 16}
DO *NOT* COMMIT!
"""


def test_the_section_outranks_what_is_printed_later():
    parsed = read_log(LOG.encode(), "sympy")
    assert parsed.statuses == {NAME: TestStatus.ERROR, "test_b": TestStatus.PASSED}
    assert parsed.evidence[NAME].kind == "summary"
