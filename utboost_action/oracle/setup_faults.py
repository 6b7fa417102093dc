"""Failures of the set-up told apart from failures of a test: by the run's end, or by the message.

Neither says that the patch is wrong. A side that shows one is run once more, alone; what stays then is
known to be no accident, but still no proof (docs/method.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from utboost_action.model import ORIGINAL, Run, RunState, SideRun, SideState, TestStatus


class SetupFault(StrEnum):
    """What a failure looks like when it is none of the test's."""

    NETWORK = "network refused"
    PACKAGE = "package missing"
    MEMORY = "out of memory"
    DISK = "disk full"
    TIME = "time ran out"
    PROCESSES = "no more processes"


_SIGNS: tuple[tuple[SetupFault, re.Pattern[str]], ...] = (
    (
        SetupFault.NETWORK,
        re.compile(
            r"ConnectionRefusedError|Connection refused|gaierror|Name or service not known|"
            r"Temporary failure in name resolution|nodename nor servname|Network is unreachable|"
            r"No route to host|Failed to establish a new connection|NameResolutionError"
        ),
    ),
    # `No module named 'a.b'` is not meant: `a` was found, so the part is what the patch left out
    (
        SetupFault.PACKAGE,
        re.compile(r"No module named '?\w+'?(?!\.)\s*(?:$|[;(])|DistributionNotFound|PackageNotFoundError"),
    ),
    (
        SetupFault.MEMORY,
        re.compile(r"\bMemoryError\b|Cannot allocate memory|std::bad_alloc|died with <Signals.SIGKILL"),
    ),
    (SetupFault.DISK, re.compile(r"No space left on device|Disk quota exceeded|\[Errno 27\] File too large")),
    (SetupFault.PROCESSES, re.compile(r"Resource temporarily unavailable|can't start new thread")),
    (SetupFault.TIME, re.compile(r"Timeout >\s?[\d.]+s|Timeout \(>[\d.]+s\)")),
)
_STOPPED = (RunState.TIMEOUT, RunState.KILLED)
_WITHOUT_RESULT = (*_STOPPED, RunState.LOG_LIMIT, RunState.DISK_LIMIT, RunState.NOT_GRADABLE)


def fault_in(message: str) -> SetupFault | None:
    """The set-up fault that a failure message speaks of, or None."""
    return next((fault for fault, sign in _SIGNS if sign.search(message)), None)


def failure_message(run_outcomes: Mapping[str, TestStatus], messages: Mapping[str, str], test: str) -> str:
    """The message of a test; of a test that a run does not show, those of what failed before any test."""
    if test in messages or test in run_outcomes:
        return messages.get(test, "")
    return "\n".join(text for name, text in messages.items() if name not in run_outcomes)


def setup_doubt(side: SideRun, gold: SideRun | None = None, base: SideRun | None = None) -> str:
    """Why a side should be run once more, alone; "" when nothing points at the set-up.

    gold: given for a candidate: only what gold passes can be a fault of the candidate's run. base: a
    failure that base shows in the same words is the program's own.
    """
    if side.state is SideState.SETUP_FAILED:
        return f"{side.state} ({side.detail})" if side.detail else str(side.state)
    if side.state is not SideState.OK:
        return ""
    if gold is not None and (died := died_alone(side, gold)):
        return died
    for run in side.runs:
        if run.state in _STOPPED:
            return f"{run.suite}: {run.state}"
        if gold is None and run.fixes is not False:
            continue
        for test, fault in _faults(run, gold, base):
            return f"{run.suite}: {test}: {fault}"
    return ""


def died_alone(side: SideRun, gold: SideRun) -> str:
    """The augmented suite, and how, that ends without a result on a candidate and with one on gold; or ""."""
    ended = {run.suite for run in gold.runs if run.state is RunState.OK}
    ended -= {run.suite for run in gold.runs if run.state is not RunState.OK}
    for run in side.runs:
        if run.suite != ORIGINAL and run.state in _WITHOUT_RESULT and run.suite in ended:
            return f"{run.suite}: {run.state}"
    return ""


def _faults(run: Run, gold: SideRun | None, base: SideRun | None) -> Iterator[tuple[str, SetupFault]]:
    own = {text for other in (base.runs if base else ()) for text in other.messages.values()}
    if gold is None:
        failing = [test for test, status in run.outcomes.items() if status.fails]
    else:
        passed = [
            test
            for other in gold.runs
            if other.suite == run.suite and other.repeat == 0
            for test, status in other.outcomes.items()
            if status.passes
        ]
        failing = [test for test in passed if test not in run.outcomes or run.outcomes[test].fails]
    for test in failing:
        message = failure_message(run.outcomes, run.messages, test)
        fault = fault_in(message)
        if fault is not None and message not in own:
            yield test, fault
