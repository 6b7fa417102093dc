"""Intervals, estimates from a sample, the sample itself, and the rates that use them."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.model import Cause, Verdict, VerdictKind
from utboost_action.report.intervals import Interval, Stratum, draw_sample, estimate, wilson
from utboost_action.report.rates import rates_of, repository_of


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # closed form, worked out by hand from Wilson 1927
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
        (1, 300, 0.0006, 0.0186),
    ],
)
def test_wilson_is_the_score_interval(successes, trials, low, high):
    found = wilson(successes, trials)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_wilson_knows_nothing_without_trials_and_refuses_what_is_no_count():
    assert wilson(0, 0) == Interval(0.0, 1.0)
    for successes, trials in ((2, 1), (-1, 3), (0, -1)):
        with pytest.raises(ValueError, match="no counts"):
            wilson(successes, trials)


@given(st.integers(0, 500), st.integers(0, 500))
def test_wilson_holds_the_share_and_narrows(successes, more):
    trials = successes + more
    found = wilson(successes, trials)
    assert 0 <= found.low <= found.high <= 1
    if trials:
        assert found.low - 1e-9 <= successes / trials <= found.high + 1e-9
        wider = wilson(successes * 10, trials * 10)
        assert wider.high - wider.low <= found.high - found.low + 1e-9


def test_a_census_has_no_width_and_nothing_seen_has_all():
    assert estimate([Stratum(10, 10, 7), Stratum(5, 5, 5)]).interval == Interval(0.8, 0.8)
    assert estimate([Stratum(10, 0, 0)]).interval == Interval(0.0, 1.0)
    assert estimate([]).size == 0
    with pytest.raises(ValueError, match="no counts"):
        estimate([Stratum(3, 4, 4)])


def test_strata_count_by_their_size():
    found = estimate([Stratum(90, 9, 9), Stratum(10, 5, 0)])
    assert found.share == pytest.approx(0.9)
    assert found.interval.low < 0.9 < found.interval.high


def test_the_interval_of_an_estimate_covers_the_truth():
    """Of 2,000 samples of known populations, 95 % of the intervals should hold the truth."""
    dice = random.Random(1)
    covered = 0
    for trial in range(2000):
        sizes = [dice.randint(20, 120) for _ in range(5)]
        names = {f"r{r}-{n}": f"r{r}" for r, size in enumerate(sizes) for n in range(size)}
        chances = [dice.uniform(0.3, 0.95) for _ in sizes]
        holds = {name for name, repo in names.items() if dice.random() < chances[int(repo[1:])]}
        sample = draw_sample(names, len(names) // 4, str(trial))
        strata = [
            Stratum(
                size,
                sum(names[name] == f"r{r}" for name in sample),
                sum(names[name] == f"r{r}" and name in holds for name in sample),
            )
            for r, size in enumerate(sizes)
        ]
        interval = estimate(strata).interval
        covered += interval.low <= len(holds) / len(names) <= interval.high
    assert 0.92 <= covered / 2000 <= 0.995, covered


def test_a_sample_is_stratified_seeded_and_stable():
    names = {f"big__repo-{n}": "big" for n in range(80)} | {f"small__repo-{n}": "small" for n in range(20)}
    first = draw_sample(names, 10, "abc")
    assert first == draw_sample(dict(reversed(names.items())), 10, "abc")
    assert first != draw_sample(names, 10, "abd")
    assert [sum(names[name] == repo for name in first) for repo in ("big", "small")] == [8, 2]
    assert len(draw_sample(names, 1000, "x")) == 100
    assert draw_sample(names, 0, "x") == ()
    with pytest.raises(ValueError, match="a sample of -1"):
        draw_sample(names, -1, "x")


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.sampled_from("abc")), st.integers(0, 50), st.text()
)
def test_a_sample_has_the_size_asked_for(names, size, seed):
    assert len(set(draw_sample(names, size, seed))) == min(size, len(names))


def verdict(name: str, kind: VerdictKind, cause: Cause | None = None) -> Verdict:
    return Verdict(name, kind, (), claimed=True, cause=cause, plausible=True)


def test_a_sampled_audit_says_what_it_lets_expect():
    claimed = {f"a__b-{n}" for n in range(100)}
    verdicts = [verdict(f"a__b-{n}", VerdictKind.HOLDS if n < 16 else VerdictKind.WRONG) for n in range(20)]
    verdicts += [verdict(f"a__b-{n}", VerdictKind.INCONCLUSIVE, Cause.NOT_AUDITED) for n in range(20, 100)]
    found = rates_of(verdicts, total=200, claimed=claimed)
    assert (found.low, found.high, found.audited) == (16, 96, 20)
    assert found.whole is not None
    assert (found.whole.sampled, found.whole.population) == (20, 100)
    assert found.whole.low.share == pytest.approx(0.4)  # 80 % of the 100 claimed, over 200
    assert 0.28 < found.whole.low.interval.low < 0.4 < found.whole.low.interval.high < 0.48


def test_a_whole_audit_needs_no_estimate():
    verdicts = [verdict("a__b-1", VerdictKind.HOLDS), verdict("a__b-2", VerdictKind.SUSPECT)]
    found = rates_of(verdicts, total=4, claimed={"a__b-1", "a__b-2"})
    assert found.whole is None
    assert (found.low, found.high) == (1, 2)
    interval = found.interval(2)
    assert math.isclose(interval.low + interval.high, 1.0)


def test_the_repository_is_in_the_id():
    assert repository_of("scikit-learn__scikit-learn-10297") == "scikit-learn__scikit-learn"
    assert repository_of("odd") == "odd"
