import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utboost_action import __version__
from utboost_action.exchange import read_plan, read_results, write_plan, write_result
from utboost_action.model import Claim, Finding, Instance, Prediction, PredictionClass, Verdict, VerdictKind
from utboost_action.shards import (
    MATRIX_JOBS,
    SCHEMA,
    How,
    Plan,
    ShardResult,
    Submitted,
    Unit,
    UnitVerdict,
    cost_of,
    merge,
    share_out,
)
from utboost_action.typed_json import from_json, to_json

NAMES = tuple(f"pallets__flask-{n}" for n in range(1, 6))


def submitted(path="evaluation/lite/one", names=NAMES):
    return Submitted(
        path=path,
        name="one",
        generation="preds-only",
        split=None,
        claim=Claim(frozenset(names[:2]), "results.json"),
        predictions=tuple(Prediction(n, "diff \udc80\n", PredictionClass.OK, "preds.json:1") for n in names),
        findings=(Finding("no_logs", "none", ("a", "b"), "x"),),
        regraded={names[0]: True, names[1]: None},
        instances=tuple(names),
    )


def plan(most=3, submissions=None):
    submissions = submissions or (submitted(),)
    units = [Unit(place, name) for place, one in enumerate(submissions) for name in one.instances]
    shards = share_out(units, lambda _unit: 400.0, most)
    return Plan(SCHEMA, __version__, "a" * 40, How("lite"), tuple(submissions), shards)


def result(whole, index, **changes):
    shard = whole.shards[index - 1]
    verdicts = tuple(
        UnitVerdict(unit.submission, Verdict(unit.instance_id, VerdictKind.HOLDS, ("fine",)))
        for unit in shard.units
    )
    values = {"schema": SCHEMA, "tool": __version__, "plan": whole.key, "index": index, "verdicts": verdicts}
    return ShardResult(**(values | changes))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), max_size=80, unique=True),
    st.integers(1, MATRIX_JOBS),
    st.lists(st.floats(1, 5000), min_size=41, max_size=41),
)
def test_every_unit_is_in_exactly_one_shard_and_shards_are_even(pairs, most, costs):
    units = [Unit(place, f"pallets__flask-{number}") for place, number in pairs]
    cost = {unit: costs[int(unit.instance_id.rpartition("-")[2])] for unit in units}
    shards = share_out(units, cost.__getitem__, most)
    assert sorted((u.submission, u.instance_id) for s in shards for u in s.units) == sorted(
        (u.submission, u.instance_id) for u in units
    )
    assert len(shards) <= most
    assert [shard.index for shard in shards] == sorted(shard.index for shard in shards)
    homes = {}
    for shard in shards:
        for unit in shard.units:
            assert homes.setdefault(unit.instance_id, shard.index) == shard.index
    if shards:
        groups = {name: sum(c for u, c in cost.items() if u.instance_id == name) for name in homes}
        longest, shortest = max(s.seconds for s in shards), min(s.seconds for s in shards)
        assert longest - shortest <= max(groups.values()) + 0.2


@pytest.mark.parametrize("most", [0, -1, MATRIX_JOBS + 1])
def test_more_shards_than_a_matrix_takes_are_refused(most):
    with pytest.raises(ValueError, match="1 to 256"):
        share_out([Unit(0, NAMES[0])], lambda _unit: 1.0, most)


def test_short_audits_are_not_torn_apart():
    units = [Unit(0, name) for name in NAMES]
    assert len(share_out(units, lambda _unit: 10.0, 20)) == 1
    assert len(share_out(units, lambda _unit: 400.0, 20)) == 5
    assert share_out([], lambda _unit: 1.0, 20) == (share_out([], lambda _unit: 1.0, 20))


def test_the_cost_is_the_known_duration_or_grows_with_the_tests():
    row = Instance("a__b-1", "a/b", "c", "p", "t", ("x",) * 10, ("y",) * 90)
    assert cost_of(row, 1, {"a__b-1": 77.0}) == 77.0
    assert cost_of(row, 0, {}) < cost_of(row, 2, {})


def test_all_results_merge_and_nothing_is_missing():
    whole = plan()
    merged = merge(whole, [result(whole, n) for n in (3, 1, 2)])
    assert len(merged.verdicts) == 5
    assert not merged.missing
    assert merged.problem_of(whole, 0) == ""


def test_a_missing_shard_is_named_for_the_submissions_that_it_holds():
    whole = plan(5, (submitted(names=NAMES[:2]), submitted("evaluation/lite/two", NAMES[2:])))
    lost = next(s.index for s in whole.shards if s.units[0].submission == 1)
    results = [result(whole, shard.index) for shard in whole.shards if shard.index != lost]
    merged = merge(whole, results)
    assert list(merged.missing) == [lost]
    assert merged.problem_of(whole, 0) == ""
    assert f"shard {lost} of 5 is missing (it brought no result), 1 of its" in merged.problem_of(whole, 1)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"plan": "other"}, "another plan"),
        ({"tool": "0.0.0"}, "another version"),
        ({"schema": 2}, "another version"),
        ({"verdicts": (UnitVerdict(0, Verdict("x__y-1", VerdictKind.WRONG, ())),)}, "not given"),
        ({"verdicts": (UnitVerdict(9, Verdict(NAMES[0], VerdictKind.WRONG, ())),)}, "not given"),
    ],
)
def test_a_result_that_does_not_fit_is_not_used(changes, why):
    whole = plan()
    merged = merge(whole, [result(whole, 1), result(whole, 2, **changes), result(whole, 3)])
    assert why in merged.missing[2]
    assert all(verdict.kind is VerdictKind.HOLDS for verdict in merged.verdicts.values())


def test_a_stopped_shard_says_why_in_its_submission_only():
    whole = plan(5, (submitted(names=NAMES[:2]), submitted("evaluation/lite/two", NAMES[2:])))
    first = result(whole, 1, problems={"0": "stopped by the user", "x": "no place"})
    merged = merge(whole, [first, *(result(whole, n) for n in range(2, 6))])
    assert merged.problem_of(whole, 0) == "shard 1: stopped by the user"
    assert merged.problem_of(whole, 1) == ""


def test_plan_and_results_survive_the_journey(tmp_path):
    whole = plan()
    write_plan(tmp_path, whole)
    read = read_plan(tmp_path)
    assert read == whole
    assert read.key == whole.key
    for n in (1, 2, 3):
        write_result(tmp_path / f"artifact-{n}", result(whole, n, seconds={NAMES[0]: 1.5}))
    results, unusable = read_results(tmp_path)
    assert results == [result(whole, n, seconds={NAMES[0]: 1.5}) for n in (1, 2, 3)]
    assert not unusable


@pytest.mark.parametrize(
    ("name", "value"), [("plan", plan()), ("shard", result(plan(), 1, seconds={"a": 1.0}))]
)
def test_what_is_written_fits_the_published_schema(name, value):
    docs = Path(__file__).resolve().parents[2] / "docs"
    schema = json.loads((docs / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(to_json(value), schema)


def test_links_and_other_names_are_not_looked_at(tmp_path):
    whole = plan()
    write_result(tmp_path / "x", result(whole, 1))
    (tmp_path / "shard-2.json").symlink_to(tmp_path / "x" / "shard-1.json")
    (tmp_path / "shard-0.json").write_text("{}")
    (tmp_path / "shard-x.json").write_text("{}")
    results, unusable = read_results(tmp_path)
    assert [each.index for each in results] == [1]
    assert not unusable


def test_a_plan_whose_units_are_not_its_own_is_refused(tmp_path):
    from utboost_action.errors import InputError

    whole = plan()
    value = to_json(whole)
    value["shards"][0]["units"][0]["submission"] = 7
    (tmp_path / "plan.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match="no submission 7"):
        read_plan(tmp_path)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_nothing_but_the_type_is_let_in(value):
    from utboost_action.typed_json import MalformedError

    with pytest.raises(MalformedError):
        from_json(ShardResult, value)
