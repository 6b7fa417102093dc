"""What differs between the repeats of a suite, so that a test which hangs on it shows that it does.

The first repeat runs in the script's own environment and is the one that is read officially. The later
ones vary what no test may depend on: the hash seed, the clock's zone, the order of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping

HASH_SEED = "PYTHONHASHSEED"
ZONE = "TZ"
ORDER = "order"  # no variable: the sandbox tells the runner, where it can be told
REVERSED = "reversed"

_VARIED: tuple[Mapping[str, str], ...] = (
    {HASH_SEED: "1", ZONE: "Asia/Kathmandu"},  # 5:45 h ahead of UTC
    {HASH_SEED: "2", ZONE: "America/St_Johns", ORDER: REVERSED},  # 3:30 h behind, with summer time
    {HASH_SEED: "3", ZONE: "Pacific/Kiritimati"},  # 14 h ahead: another day
    {HASH_SEED: "4", ZONE: "Pacific/Marquesas", ORDER: REVERSED},
)


def environment_of(repeat: int) -> Mapping[str, str]:
    """What the repeat (from 0) sets; empty for the first, the same for every side and every audit."""
    return {} if repeat == 0 else _VARIED[(repeat - 1) % len(_VARIED)]


def environments(repeats: int, first: int = 0, *, reversible: bool = True) -> tuple[Mapping[str, str], ...]:
    """The environments of so many repeats from the `first` on; no order where the runner keeps its own."""
    kept = [environment_of(repeat) for repeat in range(first, first + repeats)]
    if reversible:
        return tuple(kept)
    return tuple({name: value for name, value in each.items() if name != ORDER} for each in kept)
