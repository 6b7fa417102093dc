from pocketknife.intervals import merge


def test_overlapping_intervals_are_joined():
    assert merge([(1, 4), (2, 6)]) == [(1, 6)]
