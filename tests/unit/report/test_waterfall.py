"""From claimed to adjusted: the steps add up, and both forms show them without live text."""

import xml.etree.ElementTree as ET

from utboost_action.report.waterfall import steps_of, waterfall_svg, waterfall_text


def document(kinds: dict[str, int], claimed: int | None, low: int, high: int) -> dict[str, object]:
    instances = [
        {"verdict": kind, "claimed": None if claimed is None else True}
        for kind, count in kinds.items()
        for _ in range(count)
    ]
    return {
        "rates": {
            "claimed": None if claimed is None else {"count": claimed},
            "replayed": {"count": high},
            "adjusted": {"low": {"count": low}, "high": {"count": high}},
        },
        "instances": instances,
    }


WHOLE = document({"HOLDS": 100, "WRONG": 12, "MISGRADED": 8, "SUSPECT": 5, "INCONCLUSIVE": 3}, 128, 100, 108)


def test_the_steps_lead_from_the_claim_to_the_low_end():
    steps = steps_of(WHOLE)
    assert [(step.label.split(":")[0], step.count) for step in steps] == [
        ("claimed", 128),
        ("misgraded", -8),
        ("wrong", -12),
        ("adjusted, high", 108),
        ("suspect, inconclusive, not audited", -8),
        ("adjusted, low", 100),
    ]
    level = 0
    for step in steps:
        level = level + step.count if step.is_change else step.count
        assert level >= 0


def test_what_resolves_without_a_claim_is_a_step_up():
    found = document({"HOLDS": 10}, 8, 10, 10)
    assert [step.count for step in steps_of(found)] == [8, 2, 10, 10]


def test_without_a_claim_it_begins_at_the_replay():
    assert steps_of(document({"HOLDS": 3, "WRONG": 1}, None, 3, 3))[0].label == "replayed"


def test_the_text_form_has_one_bar_a_step():
    lines = waterfall_text(steps_of(WHOLE), 300).split("\n")
    assert len(lines) == 6
    assert len({line.index("|") for line in lines}) == 1
    assert lines[0].endswith("128 (42.7 %)")
    assert lines[1].endswith("-8 (-2.7 %)")
    assert lines[0].count("#") == 40


def test_the_picture_is_xml_without_scripts_and_escapes_its_title():
    picture = waterfall_svg(steps_of(WHOLE), 300, 'a"><script>alert(1)</script>\u202e & co')
    root = ET.fromstring(picture)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "rect", "text"}
    assert "<script" not in picture
    assert "\u202e" not in picture
    assert "href" not in picture
    assert picture == waterfall_svg(steps_of(WHOLE), 300, 'a"><script>alert(1)</script>\u202e & co')


def test_nothing_at_all_can_be_shown():
    steps = steps_of(document({}, 0, 0, 0))
    assert waterfall_text(steps, 0)
    ET.fromstring(waterfall_svg(steps, 0, ""))
