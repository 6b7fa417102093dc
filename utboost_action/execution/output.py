"""A script's output on its way to disk, capped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def stream_to_file(chunks: Iterable[bytes], log: Path, cap: int, stop_writer: Callable[[], None]) -> None:
    """Write chunks to `log` until they end; at most `cap` bytes of them, one chunk in memory at a time.

    When there is more, `stop_writer` is called once and what still comes is read and dropped, so that
    the writer's end does not wait for a full pipe.
    """
    room = cap
    with log.open("wb") as file:
        for chunk in chunks:
            if room >= 0:
                file.write(chunk[:room])
                room -= len(chunk)
                if room < 0:
                    file.flush()
                    stop_writer()
