"""Classes of patches, by git's own reading."""

from __future__ import annotations

import pytest
from unit.leaderboard.submission_builders import patch_of

from utboost_action.leaderboard.patch_classes import classify, out_of_fence
from utboost_action.model import PredictionClass

SOUND = patch_of()


def kind(value: str | type | None) -> str:
    return classify([(value, True)])[0].kind.value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (SOUND, "ok"),
        (SOUND.rstrip("\n"), "ok"),
        (SOUND.replace("\n", "\r\n"), "ok"),
        (None, "empty"),
        ("", "empty"),
        (" \n\t\n", "empty"),
        (f"```diff\n{SOUND}```", "fenced"),
        (f"\n```\n{SOUND}```\n", "fenced"),
        ("```diff\nno diff\n```", "fenced"),
        ("no diff at all", "corrupt"),
        (SOUND.replace("-1,2 +1,3", "-1,9 +1,9"), "corrupt"),
        (list, "corrupt"),
        (int, "corrupt"),
    ],
)
def test_class(value: str | type | None, expected: str) -> None:
    assert kind(value) == expected


def test_missing_key() -> None:
    assert classify([(None, False)])[0].kind is PredictionClass.MISSING_KEY


def test_the_line_of_the_fault_is_told() -> None:
    form = classify([(SOUND.replace("-1,2 +1,3", "-1,9 +1,9"), True)])[0]
    assert form.detail == "corrupt patch at line 8"


def test_fenced_patches_are_taken_out_and_judged() -> None:
    sound, broken = classify([(f"```diff\n{SOUND}```", True), ("```\nno diff\n```", True)])
    assert (sound.text, sound.detail) == (SOUND, "")
    assert sound.no_final_newline
    assert broken.detail


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("diff", None),
        ("text\n```\nx\n```", None),
        ("```diff\nx\n```", "x\n"),
        ("```diff\nx", "x\n"),
        ("````\n```\nx\n````\nrest", "```\nx\n"),
        ("~~~\nx\n~~~", "x\n"),
        ("```", ""),
    ],
)
def test_fence(text: str, inner: str | None) -> None:
    assert out_of_fence(text) == inner


def test_properties() -> None:
    binary = "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\nBinary files /dev/null and b/x differ\n"
    forms = classify([(SOUND + "\0", True), (SOUND.replace("\n", "\r\n"), True), (binary, True)])
    assert [form.nul for form in forms] == [True, False, False]
    assert [form.carriage_returns for form in forms] == [False, True, False]
    assert [form.binary for form in forms] == [False, False, True]


def test_a_corrupt_patch_in_a_batch_leaves_the_others_sound() -> None:
    values = [(SOUND, True)] * 70 + [("broken", True)] + [(SOUND, True)] * 70
    forms = classify(values)
    assert [number for number, form in enumerate(forms) if form.kind is PredictionClass.CORRUPT] == [70]


def test_options_and_odd_paths_are_text_for_git() -> None:
    for text in ("--directory=/", patch_of("../../outside.py"), patch_of(".git/hooks/x")):
        (form,) = classify([(text, True)])
        assert form.kind in (PredictionClass.OK, PredictionClass.CORRUPT)
