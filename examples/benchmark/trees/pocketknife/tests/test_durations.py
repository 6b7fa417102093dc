import pytest

from pocketknife.durations import parse_duration


def test_one_unit():
    assert parse_duration("5m") == 300


def test_nonsense_is_refused():
    with pytest.raises(ValueError):
        parse_duration("soon")
