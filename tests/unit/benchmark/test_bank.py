import json
from dataclasses import replace

import pytest
from builders import augmented, diff

from utboost_action.benchmark.bank import published_shape, read_bank, with_status, write_bank
from utboost_action.benchmark.bank_merge import imported
from utboost_action.benchmark.export import best_of
from utboost_action.errors import InputError
from utboost_action.model import BankStatus, Decision, Opinion, Signals, TestMode


def published(tmp_path, **entries):
    file = tmp_path / "aug.json"
    file.write_text(json.dumps(entries))
    return file


def test_published_tests_are_confirmed_and_replace_the_official_patch(tmp_path):
    file = published(
        tmp_path, x__y_1={"aug_test": diff("tests/t.py").rstrip("\n"), "augFail2Pass": ["t", "u", "t"]}
    )
    (test,) = read_bank(file)["x__y_1"]
    assert test.status is BankStatus.CONFIRMED
    assert test.mode is TestMode.REPLACES
    assert test.patch.endswith("two\n")
    assert test.targets == ("t", "u")
    assert "2506.09289" in test.rationale


def test_an_empty_list_of_targets_is_fine(tmp_path):
    file = published(tmp_path, x__y_1={"aug_test": diff("tests/t.py"), "augFail2Pass": []})
    assert read_bank(file)["x__y_1"][0].targets == ()


def test_a_bank_is_read_back_as_it_was_written(tmp_path):
    tests = [augmented("b"), augmented("a", BankStatus.CANDIDATE, TestMode.EXTENDS, targets=("t",))]
    (file,) = write_bank(tmp_path, tests, {"pallets__flask-1": "abc"})
    assert json.loads(file.read_text())["base_commit"] == "abc"
    assert set(read_bank(tmp_path)["pallets__flask-1"]) == set(tests)


def test_writing_replaces_by_id_and_keeps_the_others(tmp_path):
    write_bank(tmp_path, [augmented("a"), augmented("b")], {"pallets__flask-1": "abc"})
    write_bank(tmp_path, with_status([augmented("a")], BankStatus.RETIRED), {})
    tests = {test.id: test.status for test in read_bank(tmp_path)["pallets__flask-1"]}
    assert tests == {"a": BankStatus.RETIRED, "b": BankStatus.CONFIRMED}
    assert json.loads((tmp_path / "pallets__flask-1.json").read_text())["base_commit"] == "abc"


def test_the_published_shape_comes_back(tmp_path):
    entry = {"aug_test": diff("tests/t.py"), "augFail2Pass": ["t"]}
    assert published_shape(read_bank(published(tmp_path, x__y_1=entry))) == {"x__y_1": entry}


def test_only_living_tests_that_replace_are_published():
    bank = {"i": (augmented("a", BankStatus.RETIRED), augmented("b", mode=TestMode.EXTENDS))}
    assert published_shape(bank) == {}


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"augFail2Pass": []}, "aug_test"),
        ({"aug_test": "", "augFail2Pass": []}, "aug_test"),
        ({"aug_test": "no diff"}, "names no file"),
        ({"aug_test": diff("../../etc/passwd")}, "leaves the tree"),
        ({"aug_test": diff("/etc/passwd").replace("a//", "/")}, "leaves the tree"),
        ({"aug_test": diff(".git/hooks/post-checkout")}, "leaves the tree"),
        ({"aug_test": diff("t.py"), "augFail2Pass": "t"}, "list of test names"),
    ],
)
def test_wrong_published_entries_are_named(tmp_path, entry, says):
    with pytest.raises(InputError, match=says) as caught:
        read_bank(published(tmp_path, x__y_1=entry))
    assert "x__y_1" in str(caught.value)


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden"])
def test_ids_that_are_no_file_names_are_refused(tmp_path, name):
    with pytest.raises(InputError, match="no instance id"):
        read_bank(published(tmp_path, **{name: {"aug_test": diff("t.py"), "augFail2Pass": []}}))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "line 1"),
        ('{"schema": 2, "instance_id": "i", "tests": []}', "schema 2"),
        ('{"schema": 1, "instance_id": "other", "tests": []}', "not the file's name"),
        ('{"schema": 1, "instance_id": "i", "tests": [{}]}', "test 1: id is missing"),
        ("[]", "expected an object"),
    ],
)
def test_wrong_bank_files_are_named(tmp_path, content, says):
    (tmp_path / "i.json").write_text(content)
    with pytest.raises(InputError, match=says) as caught:
        read_bank(tmp_path)
    assert "i.json" in str(caught.value)


def test_no_bank_says_how_to_make_one(tmp_path):
    with pytest.raises(InputError, match="bank import"):
        read_bank(tmp_path / "nothing")


def test_an_import_brings_measurements_where_a_model_alone_has_spoken():
    proposed = Signals(issue="It counts as nothing.", issue_from="model:some-model")
    here = replace(augmented("a"), signals=proposed)
    measured = replace(augmented("b"), signals=replace(proposed, pass_to_pass=("t",)))
    (entry,) = imported([here], [measured]).entries
    assert (entry.id, entry.signals) == ("a", measured.signals)
    (entry,) = imported([replace(here, signals=measured.signals)], [here]).entries
    assert entry.signals == measured.signals


def test_a_row_takes_what_people_confirmed_and_never_what_they_doubt():
    candidate, confirmed = augmented("a", BankStatus.CANDIDATE), augmented("b", mode=TestMode.EXTENDS)
    whole = augmented("c")
    assert best_of([candidate, confirmed]) == confirmed
    assert best_of([candidate, confirmed, whole]) == whole
    assert best_of([augmented("r", BankStatus.RETIRED)]) is None
    doubt = Decision(Opinion.DISPUTE, "one", "wrong", "2026-01-01T00:00:00Z")
    about_one = replace(candidate, signals=Signals(decisions=(replace(doubt, test="t"),)))
    doubted = replace(candidate, signals=Signals(decisions=(doubt,)))
    assert best_of([doubted]) is None
    assert best_of([doubted, about_one]) == about_one
