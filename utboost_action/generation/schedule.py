"""Sampling schedules: which temperatures, how many samples each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from utboost_action.errors import InputError


class Profile(StrEnum):
    """The named schedules. paper: 61 samples as published; quick: 5; custom: as given."""

    PAPER = "paper"
    QUICK = "quick"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Step:
    """`samples` replies at one temperature; sampling may stop after it."""

    temperature: float
    samples: int


_NAMED = {
    Profile.PAPER: (Step(0.0, 1), Step(0.8, 20), Step(0.9, 20), Step(0.99, 20)),
    Profile.QUICK: (Step(0.0, 1), Step(0.8, 4)),
}


def schedule_of(profile: Profile, custom: Sequence[Step] = ()) -> tuple[Step, ...]:
    """The steps of a profile. Raises InputError when `custom` steps are missing or not wanted."""
    if (profile is Profile.CUSTOM) != bool(custom):
        raise InputError("--schedule goes with --profile custom, for example --schedule 0x1,0.8x10")
    return tuple(custom) or _NAMED[profile]


def parse_schedule(text: str) -> tuple[Step, ...]:
    """`0x1,0.8x10` into steps. Raises InputError that shows the accepted form."""
    steps = []
    for part in text.split(","):
        temperature, _, samples = part.strip().partition("x")
        try:
            step = Step(float(temperature), int(samples))
        except ValueError:
            step = Step(-1.0, 0)
        if not (0.0 <= step.temperature <= 2.0 and 1 <= step.samples <= 200):
            raise InputError(
                f"--schedule {text!r}: {part.strip()!r} is not TEMPERATURExSAMPLES; for example 0x1,0.8x10"
            )
        steps.append(step)
    return tuple(steps)
