"""Texts such as `1h30m` into seconds."""

import re

SECONDS = {"s": 1, "m": 60, "h": 3600}


def parse_duration(text):
    """The number of seconds in a duration: a number with a unit, or several in a row."""
    match = re.fullmatch(r"(\d+)([smh])", text)
    if match is None:
        raise ValueError(f"no duration: {text!r}")
    return int(match[1]) * SECONDS[match[2]]
