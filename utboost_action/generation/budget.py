"""Budgets in tokens and money that hold when several calls are under way at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from utboost_action.errors import InputError
from utboost_action.generation.asking import BudgetExhaustedError, Usage


@dataclass(frozen=True, slots=True)
class Prices:
    """What tokens cost, in USD for a million of them. None are built in: they change and differ."""

    prompt: float
    completion: float

    def cost(self, usage: Usage) -> float:
        """USD for a usage."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


class Call:
    """A call under way; `settle` tells what it took."""

    def __init__(self, bound: Usage) -> None:
        self.bound = bound
        self.usage: Usage | None = None

    def settle(self, usage: Usage) -> None:
        """What the call took; one that never settles counts with its bound for the prompt alone."""
        self.usage = usage


class Budget:
    """What may be spent, what was, and what calls under way may still take.

    A call starts only while what was spent and the bounds of all calls under way are below the limit;
    where only those bounds stand against it, it waits until one of them has settled. So the limit is
    exceeded by less than what the calls already under way take.
    """

    def __init__(
        self,
        tokens: int | None = None,
        usd: float | None = None,
        prices: Prices | None = None,
        spent: Usage = Usage(),  # noqa: B008 (frozen)
    ) -> None:
        if usd is not None and prices is None:
            raise InputError(
                "--budget-usd needs --price-prompt and --price-completion (USD for a million tokens)"
            )
        self._tokens, self._usd, self._prices = tokens, usd, prices
        self._spent = spent
        self._under_way: list[Usage] = []
        self._changed = threading.Condition()

    @property
    def spent(self) -> Usage:
        """All that was settled so far, earlier runs of the same transcript included."""
        return self._spent

    @property
    def usd(self) -> float | None:
        """The same in USD, None where no prices were given."""
        return self._prices.cost(self._spent) if self._prices else None

    @contextmanager
    def call(self, bound: Usage) -> Iterator[Call]:
        """Take part in the budget for the length of a call that takes at most `bound`.

        Raises BudgetExhaustedError instead of starting it.
        """
        with self._changed:
            while not self._fits(self._under_way):
                if not self._fits([]):
                    raise BudgetExhaustedError(self._told())
                self._changed.wait()
            self._under_way.append(bound)
        call = Call(bound)
        try:
            yield call
        finally:
            with self._changed:
                self._under_way.remove(bound)
                self._add(call.usage or Usage(bound.prompt_tokens, 0, measured=False))
                self._changed.notify_all()

    def _fits(self, under_way: list[Usage]) -> bool:
        total = Usage(
            self._spent.prompt_tokens + sum(usage.prompt_tokens for usage in under_way),
            self._spent.completion_tokens + sum(usage.completion_tokens for usage in under_way),
        )
        if self._tokens is not None and total.total >= self._tokens:
            return False
        return self._usd is None or self._prices is None or self._prices.cost(total) < self._usd

    def _add(self, usage: Usage) -> None:
        self._spent = Usage(
            self._spent.prompt_tokens + usage.prompt_tokens,
            self._spent.completion_tokens + usage.completion_tokens,
            self._spent.measured and usage.measured,
        )

    def _told(self) -> str:
        limits = [f"{self._tokens} tokens"] if self._tokens is not None else []
        limits += [f"{self._usd:.10f}".rstrip("0").rstrip(".") + " USD"] if self._usd is not None else []
        cost = f" ({self.usd:.4f} USD)" if self.usd is not None else ""
        return (
            f"the budget of {' and '.join(limits)} is used up, by all that the transcript holds: "
            f"{self._spent.total} tokens{cost}"
        )
