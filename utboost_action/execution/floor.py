"""Who may run beside whom: boxes of one audit run together, a retry runs alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Floor:
    """A place for `most` boxes. `alone` waits until nobody runs, and nobody starts until it is over."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._running = 0
        self._taken = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run beside others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken and self._running < self._most)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run with nobody beside."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken)
            self._taken = True
        try:
            with self._changed:
                self._changed.wait_for(lambda: not self._running)
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()
