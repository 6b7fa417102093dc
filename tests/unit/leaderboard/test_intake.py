"""From a folder to a submission: layouts, generations, ids, duplicates, classes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.leaderboard.submission_builders import (
    GOLD,
    TEST_PATCH,
    Builder,
    instance,
    instances,
    log_text,
    patch_of,
    row,
)

from utboost_action.errors import InputError
from utboost_action.leaderboard import read_submission, take_in
from utboost_action.leaderboard.layouts import LAYOUTS
from utboost_action.model import PredictionClass, Submission

IDS = ("a__b-1", "a__b-2", "a__b-3")


def kinds(submission: Submission) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for item in submission.findings:
        found.setdefault(item.kind, set()).update(item.ids)
    return found


def clean(build: Builder) -> Builder:
    """Three predictions, two resolved, everything in agreement."""
    build.predictions({key: patch_of(added=f"z = {key[-1]}") for key in IDS}).metadata()
    for key in IDS:
        patch = patch_of(added=f"z = {key[-1]}")
        build.log(key, patch=patch, resolved=key != "a__b-3", text=log_text(exit_code=0))
        build.put(f"trajs/{key}.traj", "{}")
    return build.results(["a__b-1", "a__b-2"]).put("README.md", "Resolved 2 of 3 attempted (66.7%)\n")


def test_a_clean_submission_has_no_findings(build: Builder) -> None:
    submission = read_submission(clean(build).root, instances=instances(*IDS), split="verified")
    assert submission.findings == ()
    assert (submission.generation, submission.split, submission.name) == ("G5", "verified", "20260101_agent")
    assert submission.claim.resolved == {"a__b-1", "a__b-2"}
    assert submission.claim.where == "results/results.json (3 lists)"
    assert submission.logs["a__b-1"] == build.root / "logs/a__b-1/test_output.txt"
    prediction = submission.predictions["a__b-2"]
    assert (prediction.kind, prediction.where, prediction.model_name) == (
        PredictionClass.OK,
        "all_preds.jsonl:2",
        "m",
    )


def test_the_submission_is_found_below_the_path_and_a_file_alone_will_do(build: Builder) -> None:
    clean(build)
    whole = read_submission(build.root)
    assert read_submission(build.root.parents[2]).predictions == whole.predictions
    alone = read_submission(build.root / "all_preds.jsonl")
    assert (alone.generation, alone.predictions, alone.logs) == ("preds-only", whole.predictions, {})


def test_several_submissions_and_none_are_refused_in_one_line(build: Builder, tmp_path: Path) -> None:
    clean(build)
    Builder(build.root.parent / "20260102_other").predictions({"a__b-1": GOLD})
    (tmp_path / "empty").mkdir()
    for path, words in (
        (build.root.parent, "2 submissions"),
        (tmp_path / "empty", "no predictions"),
        (tmp_path / "nowhere", "no such file"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            read_submission(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("make", "generation"),
    [
        (lambda b: b.log("a__b-1", text=log_text(markers=False)), "G2"),
        (
            lambda b: b.log("a__b-1", text=log_text(markers=False)).put(
                "results/resolved_by_repo.json", "{}"
            ),
            "G3",
        ),
        (lambda b: b.log("a__b-1"), "G4"),
        (lambda b: b.log("a__b-1", text=log_text(exit_code=1)), "G5"),
        (lambda b: b.log("a__b-1", text=json.dumps(log_text())), "G4"),
        (lambda b: b.put("logs/run_evaluation/r/m/a__b-1/test_output.txt", log_text()), "G4"),
        (lambda b: b.put("logs/a__b-1.m.eval.log", "Task Metadata:\n>>>>> Applied Patch (pred)\n"), "G0"),
        (lambda b: b.put("a__b-1.log", "Task Metadata:\n"), "G0"),
        (
            lambda b: b.put("logs/a__b-1.m.eval.log", "Task Metadata:\n").results(
                ["a__b-1"], with_logs=["a__b-1"]
            ),
            "G1",
        ),
        (lambda b: b.results([], generated=["a__b-1"], with_logs=[]), "G1"),
        (lambda b: b.metadata("assets: {logs: 's3://x/logs'}"), "G4"),
        (lambda b: b.put("run.json", "{}"), "G5"),
        (lambda b: b, "preds-only"),
        (lambda b: b.put("logs/a__b-1_result.json", '{"resolved": true}'), "polybench"),
        (lambda b: b.put("logs/a/b/evals/pr-1/fix-patch-run.log", "x"), "multi-swe"),
        (
            lambda b: b.put("logs/a__b-1/run_instance.log", "x").put(
                "results/results.json", '{"total_instances": 9, "resolved": ["a__b-1"]}'
            ),
            "multi-swe",
        ),
        (lambda b: b.put("evaluation_details.jsonl", row("a__b-1", GOLD, resolved=True)), "nocode"),
    ],
)
def test_generation_by_content(build: Builder, make: object, generation: str) -> None:
    make(build.predictions({"a__b-1": GOLD}))  # type: ignore[operator]
    assert read_submission(build.root).generation == generation


def test_every_layout_has_a_name_of_its_own_and_the_last_takes_anything() -> None:
    assert len({layout.name for layout in LAYOUTS}) == len(LAYOUTS)
    assert LAYOUTS[-1].name == "preds-only"


def test_boards_that_keep_verdicts_beside_patches(tmp_path: Path) -> None:
    poly = Builder(tmp_path / "evaluation/PBVerified/20260101_x").predictions({"a__b-1": GOLD})
    poly.put("logs/a__b-1_result.json", '{"resolved": true}').put(
        "logs/a__b-2_result.json", '{"resolved": false}'
    )
    submission = read_submission(poly.root)
    assert (submission.split, submission.claim.resolved) == ("PBVerified", {"a__b-1"})
    assert kinds(submission)["result_without_prediction"] == {"a__b-2"}
    nocode = Builder(tmp_path / "nocode")
    nocode.put(
        "evaluation_details.jsonl", row("a__b-1", GOLD, resolved=True) + row("a__b-2", GOLD, resolved=False)
    )
    submission = read_submission(nocode.metadata().root)
    assert submission.claim.resolved == {"a__b-1"}
    assert len(submission.predictions) == 2
    assert "logs_not_in_pull_request" in kinds(submission)


def test_ids_of_another_board_are_one_note_and_not_many_faults(build: Builder) -> None:
    build.predictions({"x__y-1": GOLD, "x__y-2": GOLD}).put("logs/x__y-1_result.json", '{"resolved": true}')
    found = kinds(read_submission(build.root, instances=instances(*IDS)))
    assert "other_benchmark" in found
    assert "unknown_id" not in found


def test_classes_of_predictions(build: Builder) -> None:
    sound = patch_of()
    rows = [
        row("a__b-1", sound),
        row("a__b-2", None),
        row("a__b-3", f"```diff\n{sound}```"),
        row("a__b-4", "nonsense"),
        json.dumps({"instance_id": "a__b-5", "model_id": "m", "prediction": sound}) + "\n",
        row("a__b-7", [sound]),
        row("a__b-6", sound.replace("\n", "\r\n").rstrip()),
    ]
    submission = read_submission(build.put("all_preds.jsonl", "".join(rows)).metadata().root)
    assert {key: value.kind.value for key, value in submission.predictions.items()} == {
        "a__b-1": "ok",
        "a__b-2": "empty",
        "a__b-3": "fenced",
        "a__b-4": "corrupt",
        "a__b-5": "missing_model_patch_key",
        "a__b-6": "ok",
        "a__b-7": "corrupt",
    }
    assert submission.predictions["a__b-7"].detail == "model_patch is no text but a list"
    assert submission.predictions["a__b-3"].patch == sound
    found = kinds(submission)
    assert found["empty_patch"] == {"a__b-2"}
    assert found["fenced_patch"] == {"a__b-3"}
    assert found["corrupt_patch"] == {"a__b-4", "a__b-7"}
    assert found["wrong_keys"] == {"a__b-5"}
    assert found["carriage_returns"] == {"a__b-6"}
    assert found["no_final_newline"] == {"a__b-3", "a__b-4", "a__b-6"}
    wrong = next(item for item in submission.findings if item.kind == "wrong_keys")
    assert wrong.detail == "keys model_id, prediction instead of model_name_or_path, model_patch"


def test_the_last_of_duplicate_ids_counts(build: Builder) -> None:
    one, two = patch_of(added="one = 1"), patch_of(added="two = 2")
    build.put(
        "all_preds.jsonl", row("a__b-1", one) + row("a__b-2", one) + row("a__b-1", two) + row("a__b-2", one)
    )
    submission = read_submission(build.root)
    assert submission.predictions["a__b-1"].patch == two
    assert submission.predictions["a__b-1"].where == "all_preds.jsonl:3"
    found = kinds(submission)
    assert found["duplicate_id_conflict"] == {"a__b-1"}
    assert found["duplicate_id"] == {"a__b-2"}


def test_a_patch_diff_of_the_first_duplicate_is_told_with_the_conflict(build: Builder) -> None:
    one, two = patch_of(added="one = 1"), patch_of(added="two = 2")
    build.put("all_preds.jsonl", row("a__b-1", one) + row("a__b-1", two)).log("a__b-1", patch=one)
    submission = read_submission(build.root)
    conflict = next(item for item in submission.findings if item.kind == "duplicate_id_conflict")
    assert "patch.diff is an earlier one" in conflict.detail
    assert "patch_differs" not in kinds(submission)


def test_ids_unknown_and_of_another_split_and_no_ids_at_all(build: Builder) -> None:
    rows = [
        row("a__b-1", GOLD),
        row("l__l-1", GOLD),
        row("x__x-1", GOLD),
        row("../../etc", GOLD),
        row(7, GOLD),
    ]
    submission = read_submission(
        build.put("all_preds.jsonl", "".join(rows)).root,
        instances=instances(*IDS),
        split="verified",
        other_splits={"lite": {"l__l-1"}, "verified": set(IDS)},
    )
    found = kinds(submission)
    assert found["unknown_id"] == {"l__l-1", "x__x-1"}
    assert found["other_split_id"] == {"l__l-1"}
    assert found["invalid_id"] == {"../../etc"}
    assert "missing_instance_id" in found
    assert set(submission.predictions) == {"a__b-1", "l__l-1", "x__x-1"}


def test_lint_knows_the_files_of_the_official_test_patch(build: Builder) -> None:
    build.predictions(
        {"a__b-1": TEST_PATCH, "a__b-2": patch_of("tests/other.py"), "a__b-3": patch_of("conftest.py")}
    )
    submission = read_submission(build.root, instances=instances(*IDS))
    found = kinds(submission)
    assert found["official_test_file"] == {"a__b-1"}
    assert found["test_file"] == {"a__b-2"}
    assert found["conftest"] == {"a__b-3"}


def test_likeness_to_gold(build: Builder) -> None:
    ids = [f"a__b-{number}" for number in range(10)]
    other = {key: patch_of(added=f"z = {key[-1]}") for key in ids}
    commented = GOLD.replace("+import sys\n", "+# why\n+import sys\n").replace("-1,3 +1,4", "-1,3 +1,5")
    few = {**other, ids[0]: GOLD, ids[1]: commented}
    intake = take_in(build.predictions(few).root, instances={key: instance(key) for key in ids})
    assert intake.similarity.matching == {ids[0], ids[1]}
    assert intake.similarity.identical == {ids[0]}
    assert "gold_similarity" not in kinds(intake.submission)
    many = {**few, ids[2]: GOLD}
    again = take_in(build.predictions(many).root, instances={key: instance(key) for key in ids})
    assert again.similarity.percent == 30.0
    assert "gold_similarity" in kinds(again.submission)


def test_links_are_named_and_never_followed(build: Builder, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text(row("a__b-1", GOLD))
    build.metadata()
    (build.root / "all_preds.jsonl").symlink_to(secret)
    (build.root / "logs").symlink_to("..")
    (build.root / "trajs").symlink_to(tmp_path)
    (build.root / "sub").mkdir()
    (build.root / "sub" / ".git").write_text("gitdir: x")
    os.mkfifo(build.root / "results.json")
    submission = read_submission(build.root)
    where = {item.where for item in submission.findings if item.kind == "link"}
    assert where == {"all_preds.jsonl", "logs", "trajs"}
    assert {"submodule", "invalid_name", "no_predictions"} <= kinds(submission).keys()
    assert submission.predictions == {}
    with pytest.raises(InputError, match="is a link"):
        read_submission(build.root / "all_preds.jsonl")


def test_a_bare_repository_is_read_from_its_objects(tmp_path: Path) -> None:
    repository = tmp_path / "repo.git"
    base = ["git", "-C", str(repository)]
    who = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@x",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@x",
    }

    def git(*arguments: str, data: str = "") -> str:
        run = subprocess.run(
            [*base, *arguments],
            input=data.encode(),
            capture_output=True,
            check=True,
            env={**os.environ, **who},
        )
        return run.stdout.decode().strip()

    subprocess.run(["git", "init", "-q", "--bare", str(repository)], check=True)
    folder = "evaluation/lite/20260101_x"
    for mode, path, content in (
        ("100644", f"{folder}/all_preds.jsonl", row("a__b-1", GOLD)),
        ("120000", f"{folder}/metadata.yaml", "/etc/passwd"),
    ):
        name = git("hash-object", "-w", "--stdin", data=content)
        git("update-index", "--add", "--cacheinfo", f"{mode},{name},{path}")
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{folder}/sub")
    git("update-ref", "refs/heads/some", git("commit-tree", git("write-tree"), "-m", "x"))
    submission = read_submission(repository)
    assert submission.predictions["a__b-1"].patch == GOLD
    assert (submission.split, submission.name) == ("lite", "20260101_x")
    assert {item.where for item in submission.findings if item.kind in ("link", "submodule")} == {
        f"{folder}/metadata.yaml",
        f"{folder}/sub",
    }


NAMES = (
    *("all_preds.jsonl", "preds.json", "metadata.yaml", "README.md", "results/results.json", "run.json"),
    *(
        "logs/a__b-1/report.json",
        "logs/a__b-1/test_output.txt",
        "logs/a__b-1/patch.diff",
        "trajs/a__b-1.traj",
    ),
    *("logs/a__b-1_result.json", "evaluation_details.jsonl", "results/resolved_by_repo.json"),
)


@given(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from(
                [b"{}", b"[]", b"null", b'"x"', b'{"resolved": [1, {}, "a__b-1"]}', b'{"a__b-1": {}}']
            )
            | st.sampled_from(
                [b'{"a__b-1": {"resolved": 1, "tests_status": {"FAIL_TO_PASS": 3}}}', b"a: [b, 1]\n"]
            ),
        ),
        min_size=1,
    )
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_in_a_tree_makes_the_reader_raise(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    builder = Builder(tmp_path_factory.mktemp("tree") / "s")
    for path, content in files.items():
        builder.put(path, content)
    with contextlib.suppress(InputError):  # a tree without any mark of a submission
        read_submission(builder.root, instances=instances(*IDS), split="verified")
