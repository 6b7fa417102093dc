"""What varies between repeats reaches the script as plain variables; a retry runs with nobody beside it."""

import threading
import time

import pytest

from utboost_action.execution.floor import Floor
from utboost_action.execution.scripts import run_script
from utboost_action.oracle.stability import environments

BASE, NONCE = "a" * 40, "b" * 32


def test_the_first_repeat_adds_nothing_and_the_others_their_variables():
    plain = run_script("/utboost", BASE, NONCE, reset=True)
    assert run_script("/utboost", BASE, NONCE, reset=True, environment=environments(1)[0]) == plain
    varied = [run_script("/utboost", BASE, NONCE, reset=True, environment=each) for each in environments(3)]
    assert "export PYTHONHASHSEED='1'" in varied[1]
    assert "export TZ='Asia/Kathmandu'" in varied[1]
    assert "utboost_reversed" not in varied[1]
    assert "utboost_reversed" in varied[2]
    added = [line for line in varied[2].split("\n") if line not in plain.split("\n")]
    assert len(added) == 4
    assert all(line.startswith("export ") for line in added)


@pytest.mark.parametrize("bad", [{"TZ": "x'; rm -rf /"}, {"A B": "1"}, {"TZ": ""}])
def test_a_variable_is_a_plain_word(bad):
    with pytest.raises(ValueError, match="no plain variable"):
        run_script("/utboost", BASE, NONCE, reset=True, environment=bad)


def test_who_is_interrupted_while_waiting_to_be_alone_lets_the_others_go_on():
    floor = Floor(1)

    class Interrupted(threading.Condition().__class__):
        def wait_for(self, predicate, timeout=None):
            if predicate():
                return True
            raise KeyboardInterrupt

    floor._changed = Interrupted()
    with floor.together(), pytest.raises(KeyboardInterrupt), floor.alone():
        pass
    with floor.together():
        assert not floor._taken


def test_alone_means_alone():
    floor, running, seen, most = Floor(3), [], [], []

    def beside() -> None:
        with floor.together():
            running.append(1)
            most.append(len(running))
            time.sleep(0.02)
            running.pop()

    def retry() -> None:
        with floor.alone():
            seen.append(len(running))
            time.sleep(0.02)
            seen.append(len(running))

    threads = [threading.Thread(target=retry if n % 4 == 1 else beside) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    assert seen == [0] * 8
    assert max(most) == 3
