"""Writing back over several surfaces: one that is refused never keeps the others from being written.

Every refusal has a name (`Obstacle`), becomes an error annotation and makes the run fail; a run that
could not say what it found is never green.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from utboost_action.errors import AuditError
from utboost_action.github.annotations import Annotation, Level
from utboost_action.github.problems import GitHubError, Obstacle, SupersededError


class Surface(StrEnum):
    """Where a result can be seen."""

    COMMENT = "comment"
    STATUS = "commit status"
    SUMMARY = "job summary"
    OUTPUTS = "step outputs"
    DATA = "data branch"
    REACTION = "reaction"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one surface: `problem` is "" when it was written; `obstacle` None if not GitHub's."""

    surface: Surface
    problem: str = ""
    obstacle: Obstacle | None = None

    @property
    def written(self) -> bool:
        """Whether the surface holds the result now."""
        return not self.problem


def deliver(steps: Sequence[tuple[Surface, Callable[[], object]]]) -> tuple[Delivery, ...]:
    """Run the steps in order, each to its own end. Only SupersededError ends all of them: raises it."""
    found: list[Delivery] = []
    for surface, step in steps:
        try:
            step()
        except SupersededError:
            raise
        except GitHubError as problem:
            found.append(Delivery(surface, str(problem), problem.obstacle))
        except AuditError as problem:
            found.append(Delivery(surface, str(problem)))
        else:
            found.append(Delivery(surface))
    return tuple(found)


def refusals(deliveries: Sequence[Delivery]) -> tuple[Annotation, ...]:
    """One error annotation for each surface that was not written; none means that all is well."""
    return tuple(
        Annotation(
            Level.ERROR,
            delivery.problem,
            f"UTBoost: {delivery.surface} not written: {delivery.obstacle or 'failed'}",
        )
        for delivery in deliveries
        if not delivery.written
    )
