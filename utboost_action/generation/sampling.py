"""Asking for tests by a schedule, until it is done, the budget is, or new samples add no distinct test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from utboost_action.generation.asking import (
    BudgetExhaustedError,
    Message,
    ModelClient,
    ModelError,
    PendingReplyError,
    ReplayMissError,
    Request,
)
from utboost_action.generation.samples import Sample
from utboost_action.generation.schedule import Step
from utboost_action.generation.units import Unit

_LEAST_TO_JUDGE = 4  # samples of a step; fewer say nothing about whether more would help


class Ending(StrEnum):
    """Why sampling ended."""

    SCHEDULE = "the schedule is done"
    EXHAUSTED = "new samples added no distinct test"
    BUDGET = "the budget is used up"
    FAILED = "the endpoint failed"
    SHORT = "some samples could not be had"


@dataclass(frozen=True, slots=True)
class Sampled:
    """The samples in order, and why there are no more of them.

    missing: samples that were not had. problem: what the endpoint said, where it failed on the way.
    """

    samples: tuple[Sample, ...]
    ending: Ending
    missing: int
    problem: str = ""


def sample_tests(
    client: ModelClient,
    messages: tuple[Message, ...],
    steps: Sequence[Step],
    *,
    model: str,
    max_tokens: int,
    instance_id: str,
    read: Callable[[Sample], Sequence[Unit]],
) -> Sampled:
    """Ask step by step; each step is one request for all its samples.

    read: the units of a sample that pass the static gates; a step of four samples or more whose units
    are all known already is the last. A budget that ends in between keeps what came before. Raises
    ModelError, where the first step gave nothing.
    """
    samples: list[Sample] = []
    known: set[str] = set()
    missing = 0
    asked: dict[float, int] = {}  # temperature -> samples; steps of one temperature are one request
    for number, step in enumerate(steps):
        request = Request(
            model=model,
            messages=messages,
            temperature=step.temperature,
            max_tokens=max_tokens,
            instance_id=instance_id,
            stage="write",
        )
        begin = asked.get(step.temperature, 0)
        wanted = range(begin, begin + step.samples)
        asked[step.temperature] = wanted.stop
        try:
            replies = client.ask(request, wanted)
        except (ReplayMissError, PendingReplyError):
            raise
        except ModelError as problem:
            if not samples:
                raise
            left = sum(later.samples for later in steps[number:])
            ending = Ending.BUDGET if isinstance(problem, BudgetExhaustedError) else Ending.FAILED
            return Sampled(tuple(samples), ending, missing + left, str(problem))
        missing += step.samples - len(replies)
        new = 0
        for index in sorted(replies):
            sample = Sample(f"s{number}.{index}", request.hash, step.temperature, replies[index])
            samples.append(sample)
            keys = {unit.key for unit in read(sample)}
            new += len(keys - known)
            known |= keys
        if new == 0 and len(replies) >= _LEAST_TO_JUDGE:
            ended = Ending.EXHAUSTED if number + 1 < len(steps) else Ending.SCHEDULE
            return Sampled(tuple(samples), ended, missing)
    return Sampled(tuple(samples), Ending.SHORT if missing else Ending.SCHEDULE, missing)
