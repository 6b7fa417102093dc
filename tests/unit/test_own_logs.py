"""Two runs of one program give one record: what differs by chance is left out of it."""

from builders import row

from utboost_action.benchmark.rows import instance_from_row
from utboost_action.own_logs import reader_of

LOG = """+ : '>>>>> Start Test Output {nonce}'
============================= test session starts ==============================
collected 1 item

tests/test_a.py F                                                        [100%]

=================================== FAILURES ===================================
___________________________________ test_new ___________________________________

>       assert thing == 1
E       assert <Thing object at {address}> == 1

tests/test_a.py:3: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_new - assert <Thing object at {address}> == 1
============================== 1 failed in 0.01s ===============================
+ : '>>>>> End Test Output {nonce}'
"""


def test_addresses_in_memory_are_no_part_of_the_record():
    read = reader_of(instance_from_row(row(), parser_for_repo=lambda _repo: None))
    readings = []
    for nonce, address in (("aa" * 16, "0x7f654e675d50"), ("bb" * 16, "0x7fa7336e2c90")):
        log = LOG.replace("{nonce}", nonce).replace("{address}", address)
        readings.append(read(log.encode(), nonce, 1))
    assert readings[0] == readings[1]
    assert readings[0].usable
    assert readings[0].messages == {"tests/test_a.py::test_new": "assert <Thing object at 0x...> == 1"}
