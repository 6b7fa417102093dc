"""From what a unittest log shows to one outcome a test, checked against the runner's own figures."""

from __future__ import annotations

from utboost_action.logs.reading import Reading, Spot, listed, worse
from utboost_action.logs.unittest_transcript import Started, Transcript
from utboost_action.model import LogFlag, RunnerSummary, TestStatus


def settle(seen: Transcript, known: frozenset[str]) -> Reading:
    """Decide each test's outcome: closing sections first, then the runner's inline words, then figures."""
    out = Reading(docstrings={**seen.section.docstrings, **seen.docstrings})
    out.closed = bool(seen.runs)
    out.begun = bool(seen.tests or seen.section.seen or seen.dots or seen.runs)
    _drop_inner_runs(seen, out)
    ran = seen.runs[-1][0] if seen.runs else None
    for holder, last, status in seen.either:
        owner = last if last in seen.section.tests and holder not in seen.section.tests else holder
        if owner in seen.tests:
            seen.tests[owner].said.append(status)
    _drop_text(seen, out)
    _drop_printed(seen, out, sum(run[0] for run in seen.runs) if seen.runs else None)
    unsettled: list[Started] = []
    for test in seen.tests.values():
        outcome = _outcome(test, seen, out)
        if outcome is None:
            unsettled.append(test)
        else:
            out.statuses[test.id] = outcome
            out.spots.setdefault(test.id, Spot(test.first, test.last, "inline"))
    for name, entry in seen.section.tests.items():
        out.statuses[name] = entry.status
        first = seen.tests[name].first if name in seen.tests else entry.first
        out.spots[name] = Spot(
            min(first, entry.first), max(entry.first, entry.last), "summary", entry.message
        )
        if entry.unexpected and not entry.message:
            out.spots[name] = Spot(min(first, entry.first), entry.first, "summary", "unexpected success")
    names = len(out.statuses.keys() | {test.id for test in unsettled})
    _events(seen, out, known)
    if ran is not None:
        _figures(seen, out, unsettled, names)
    for test in unsettled:
        if test.id in out.statuses:
            continue
        out.statuses[test.id] = TestStatus.ERROR
        out.spots[test.id] = Spot(test.first, test.last, "inline", "no verdict: the test did not finish")
        if ran is None:
            out.cut = True
    out.docstrings = {name: text for name, text in out.docstrings.items() if name in out.statuses}
    if seen.unparsed:
        out.warn(f"{seen.unparsed} lines look like verdicts and name no test")
    return out


def _drop_text(seen: Transcript, out: Reading) -> None:
    """Text that names a test is no result: ids behind a blank and headers without a rule above them.

    Both stay where the closing figures need them.
    """
    if seen.runs and _failures_listed(seen):
        for name in [name for name, entry in seen.section.tests.items() if not entry.strong]:
            del seen.section.tests[name]
    doubtful = [
        test.id for test in seen.tests.values() if test.doubtful and test.id not in seen.section.tests
    ]
    if seen.runs:
        spare = len(seen.tests.keys() | seen.section.tests.keys()) - sum(run[0] for run in seen.runs)
        doubtful = doubtful[: max(0, spare)]
    for name in doubtful:
        del seen.tests[name]
    if doubtful:
        out.warn(f"text that names tests was left out: {listed(doubtful)}")


def _drop_inner_runs(seen: Transcript, out: Reading) -> None:
    """Runs inside a test print closing lines and headers: those of ids that never started are not ours.

    Only where the last closing line counts exactly the tests that started.
    """
    if len(seen.runs) < 2 or len(seen.tests) != seen.runs[-1][0]:
        return
    del seen.runs[:-1]
    inner = [name for name in seen.section.tests if name not in seen.tests]
    for name in inner:
        seen.section.headers -= seen.section.tests.pop(name).headers
    if inner:
        out.warn(f"closing sections of inner runs were left out: {listed(inner)}")


def _drop_printed(seen: Transcript, out: Reading, ran: int | None) -> None:
    """Ids that a test printed while it ran are no tests, unless the runner's count includes them."""
    if not seen.inside:
        return
    names = set(seen.tests) | set(seen.section.tests)
    inside = [
        name
        for name, holder in seen.inside.items()
        if name in seen.tests and seen.tests[name].runs == 1 and name not in seen.section.tests
        and (ran is not None or holder not in seen.section.tests)
    ]  # fmt: skip
    if not inside or (ran is not None and len(names) <= ran):
        return
    if ran is not None:
        inside = inside[: len(names) - ran]
    for name in inside:
        del seen.tests[name]
    out.flags.add(LogFlag.INJECTION)
    out.warn(f"result lines printed by a test were left out: {listed(inside)}")


def _outcome(test: Started, seen: Transcript, out: Reading) -> TestStatus | None:
    """The outcome of a test that no closing section names; None where nothing tells it."""
    said = list(test.said)
    if out.closed and test.id not in seen.section.tests and _failures_listed(seen):
        if said and said[-1].fails and test.skip_below:
            said, seen.nameless_skips = [TestStatus.SKIPPED], seen.nameless_skips - 1
        said = [status for status in said if not status.fails] or said
    if len(set(said)) > 1 and not all(status.fails for status in said):
        out.flags.add(LogFlag.CONFLICT)
        out.warn(f"{test.id} has more than one outcome: the worst is kept")
    elif said and test.id in seen.section.tests:
        entry = seen.section.tests[test.id]
        if not said[0].fails:
            out.flags.add(LogFlag.CONFLICT)
            out.warn(f"{test.id} is {said[0]} beside its name and {entry.status} in the closing section")
    said += test.subtests
    if not said and test.guess is not None and test.id not in seen.section.tests:
        said = [test.guess]
    if not said:
        return None
    status = said[0]
    for other in said[1:]:
        status = worse(status, other)
    return status


def _failures_listed(seen: Transcript) -> bool:
    """Whether the closing figures are all covered by headers, so that no other test failed."""
    _, figures, _ = seen.runs[-1]
    told = sum(figures.get(word, 0) for word in ("failures", "errors"))
    return len(seen.runs) == 1 and told == seen.section.headers


def _events(seen: Transcript, out: Reading, known: frozenset[str]) -> None:
    for name, (status, offset) in seen.events.items():
        out.events[name] = status
        out.spots[name] = Spot(offset, offset, "inline")
    for name, entry in seen.section.events.items():
        out.events[name] = worse(entry.status, out.events.get(name, entry.status))
        out.spots[name] = Spot(entry.first, max(entry.first, entry.last), "summary", entry.message)
    set_up = {_owner(name): name for name in out.events if name.startswith("setUp")}
    for test in sorted(known) if set_up else ():
        owner = _owner(test)
        while owner and owner not in set_up:
            owner = owner.rpartition(".")[0]
        if owner and test not in out.statuses:
            out.statuses[test] = out.events[set_up[owner]]
            out.spots[test] = out.spots[set_up[owner]]


def _owner(name: str) -> str:
    """The class or module of an id, which is what stands in its parentheses."""
    return name.partition("(")[2].rstrip(")")


def _figures(seen: Transcript, out: Reading, unsettled: list[Started], names: int) -> None:
    """Fill the summary, and let the figures settle or contradict what the lines say."""
    ran = sum(run[0] for run in seen.runs)
    figures: dict[str, int] = {}
    for _, part, _ in seen.runs:
        for word, number in part.items():
            figures[word] = figures.get(word, 0) + number
    if len(seen.runs) > 1 and names <= max(run[0] for run in seen.runs):
        ran, figures, _ = seen.runs[-1]
    failed = sum(
        entry.status is TestStatus.FAILED and not entry.unexpected for entry in seen.section.tests.values()
    )
    errors = sum(entry.status is TestStatus.ERROR for entry in seen.section.tests.values())
    if not seen.section.headers:
        failed, errors = figures.get("failures", 0), figures.get("errors", 0)
    skipped = figures.get("skipped", figures.get("SKIP", 0))
    xfailed = figures.get("expected failures", 0)
    xpassed = figures.get("unexpected successes", 0)
    class_skips = seen.nameless_skips + sum(status is TestStatus.SKIPPED for status in out.events.values())
    sub_skips = 0
    for test in seen.tests.values():
        skips = test.subtests.count(TestStatus.SKIPPED)
        sub_skips += skips - (1 if skips and out.statuses.get(test.id) is TestStatus.SKIPPED else 0)
    # Python 3.12.1 does not count tests that a decorator skips.
    skips = sum(status is TestStatus.SKIPPED for status in out.statuses.values())
    uncounted = names - ran if 0 < names - ran <= skips else 0
    passed = ran + uncounted - failed - errors - max(0, skipped - class_skips - sub_skips) - xfailed - xpassed
    out.summary = RunnerSummary(ran, max(0, passed), failed, errors, skipped, xfailed, xpassed)
    green = sum(status is TestStatus.PASSED for status in out.statuses.values())
    fresh = [test for test in unsettled if test.id not in out.statuses]
    if fresh and names == ran and green + len(fresh) == passed:
        for test in fresh:
            out.statuses[test.id] = TestStatus.PASSED
            out.spots[test.id] = Spot(test.first, test.last, "summary")
        out.warn(f"{len(fresh)} tests show no verdict; the closing figures say that they passed")
    _check(seen, out, ran, figures, names - uncounted)


def _check(seen: Transcript, out: Reading, ran: int, figures: dict[str, int], names: int) -> None:
    if ran == 0:
        out.refusal = "no test ran"
    again = sum(test.runs - 1 for test in seen.tests.values())
    if names + again < ran:
        out.flags.add(LogFlag.PARTIAL)
        out.warn(f"the runner counts {ran} tests, {names} are named")
    elif names > ran:
        out.flags.add(LogFlag.INJECTION)
        out.warn(f"the runner counts {ran} tests, {names} are named: some lines are not the runner's")
    told = sum(figures.get(word, 0) for word in ("failures", "errors"))
    if seen.section.headers and told != seen.section.headers and len(seen.runs) == 1:
        out.warn(f"the closing line counts {told} failures and errors, {seen.section.headers} are listed")
    if seen.section.unparsed:
        out.warn(f"{seen.section.unparsed} headers of the closing section name no test")
