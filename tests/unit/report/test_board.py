"""The board's arithmetic on made-up submissions whose right answer is known."""

import random
from itertools import product

import cmarkgfm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utboost_action.report.board import Board, Certainty, Entry, board_document, places_of, unaudited
from utboost_action.report.board_pages import board_html, board_markdown


def entry(name: str, claimed: int, low: int, high: int, wrong: int = 0) -> Entry:
    return Entry(name, name.upper(), claimed, low, high, audited=claimed, wrong=wrong)


def exact(name: str, claimed: int, wrong: int) -> Entry:
    """Audited whole, with nothing left open."""
    return entry(name, claimed, claimed - wrong, claimed - wrong, wrong)


def by_name(entries):
    return {place.entry.name: place for place in places_of(entries)}


def test_equal_counts_share_the_better_rank():
    found = by_name([exact("a", 9, 0), exact("b", 7, 0), exact("c", 7, 0), exact("d", 5, 0)])
    assert [found[name].before for name in "abcd"] == [1, 2, 2, 4]
    assert [found[name].tied_before for name in "abcd"] == [1, 2, 2, 1]
    assert all(place.certainty is Certainty.NONE for place in found.values())


def test_who_loses_claims_moves_and_so_do_others():
    found = by_name([exact("a", 9, 4), exact("b", 8, 0), exact("c", 7, 0)])
    assert [(found[n].before, found[n].after, found[n].moved) for n in "abc"] == [
        (1, 3, -2),
        (2, 1, 1),
        (3, 2, 1),
    ]
    assert {place.certainty for place in found.values()} == {Certainty.SURE}


def test_open_verdicts_make_a_move_open():
    found = by_name([entry("a", 9, 5, 7, 2), entry("b", 8, 6, 8)])
    assert (found["a"].after, found["a"].best, found["a"].worst) == (2, 1, 2)
    assert found["a"].certainty is Certainty.OPEN
    assert found["b"].certainty is Certainty.OPEN


def test_without_an_audit_nothing_is_sure():
    found = by_name([unaudited("a", "", 9), exact("b", 8, 0), unaudited("c", "", None)])
    assert (found["a"].after, found["a"].best, found["a"].worst) == (1, 1, 2)
    assert found["c"].after == 3


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=4))
def test_possible_ranks_are_those_of_all_worlds(triples):
    entries = [
        entry(str(n), low + more + gone, low, low + more) for n, (low, more, gone) in enumerate(triples)
    ]
    found = by_name(entries)
    worlds = list(product(*(range(e.low, e.high + 1) for e in entries)))
    for n, own in enumerate(entries):
        ranks = [1 + sum(count > world[n] for count in world) for world in worlds]
        assert (found[own.name].best, found[own.name].worst) == (min(ranks), max(ranks))


def published(size: int, changing: int, seed: int) -> list[Entry]:
    """A board of `size` in which exactly `changing` entries change their rank.

    Far apart, nothing moves: counts are steps of 10. Pairs that stand 1 apart change places when the
    upper one loses 2; of three that stand 1 apart, all move when the first loses 3.
    """
    entries = []
    count, left, number = size * 20, changing, 0
    while number < size:
        if left >= 2 and left != 3 and number + 2 <= size:
            group = [(count, 2), (count - 1, 0)]
        elif left == 3 and number + 3 <= size:
            group = [(count, 3), (count - 1, 0), (count - 2, 0)]
        else:
            group = [(count, 1)] if number % 3 == 0 else [(count, 0)]  # wrong patches that move nobody
        left -= len(group) if len(group) > 1 else 0
        for claimed, wrong in group:
            entries.append(exact(f"agent_{number}", claimed, wrong))
            number += 1
        count -= 10
    random.Random(seed).shuffle(entries)
    return entries


@pytest.mark.parametrize(("size", "changing", "percent"), [(44, 18, 40.9), (45, 11, 24.4)])
def test_the_published_case(size, changing, percent):
    """The paper's 40.9 % of Lite and 24.4 % of Verified entries: 18 of 44 and 11 of 45 rank changes."""
    board = Board("made up", "lite", 1000, places_of(published(size, changing, 7)))
    assert (board.changed, board.sure) == (changing, changing)
    assert round(100 * board.changed / len(board.places), 1) == percent


def test_thirty_six_instances_with_weak_tests_and_who_loses_them():
    """36 instances; submission n claims all with an even step, and wrongly those below its number."""
    weak = range(36)
    strong = 100
    submissions = {f"s{n:02}": {w for w in weak if w < 2 * n} for n in range(18)}  # wrongly resolved
    entries = [
        exact(name, strong + 36 - n, len(wrong)) for n, (name, wrong) in enumerate(submissions.items())
    ]
    board = Board("made up", "verified", 500, places_of(entries))
    assert board.affected == 17  # all but the first
    assert sum(place.entry.wrong for place in board.places) == sum(2 * n for n in range(18)) == 306
    assert board.changed == 0  # who claims less has more wrong: nobody overtakes
    lost = {f"s{n:02}": {w for w in weak if w < 2 * (17 - n)} for n in range(18)}
    entries = [exact(name, strong + 36 - n, len(lost[name])) for n, name in enumerate(submissions)]
    found = by_name(entries)
    assert [found[f"s{n:02}"].after for n in range(18)] == [18 - n for n in range(18)]
    assert sum(place.certainty is Certainty.SURE for place in found.values()) == 18


HOSTILE = [
    Entry("x", '<script>alert(1)</script>|`"\u202e', 9, 3, 5, 9, 4),
    exact("y", 8, 0),
    unaudited("z", "", None),
]


def test_the_pages_hold_no_live_text_and_need_no_script():
    document = board_document(Board("rows|`.jsonl", "lite", 10, places_of(HOSTILE), ("a <b>note</b>",)))
    page = board_html(document)
    assert "<script" not in page
    assert "\u202e" not in page
    assert "://" not in page
    assert page.count("<tr") == 4
    shown = cmarkgfm.github_flavored_markdown_to_html(board_markdown(document))
    assert "<script" not in shown
    assert "<b>" not in shown
    assert shown.count("<tr>") == 4
    assert all(row.count("<td") == 12 for row in shown.split("<tr>")[2:])


def test_equal_boards_give_equal_values():
    entries = published(44, 18, 1)
    first = board_document(Board("b", "lite", 500, places_of(entries)))
    assert first == board_document(Board("b", "lite", 500, places_of(entries[::-1])))
