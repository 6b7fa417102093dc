"""What generation found: one result an instance, and the report of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from utboost_action.generation.asking import Usage
from utboost_action.generation.changed_lines import Coverage
from utboost_action.model import AugmentedTest

SCHEMA = 1


class InstanceState(StrEnum):
    """How far an instance came. Only WRITTEN put tests into the bank; no other state says anything of it."""

    WRITTEN = "tests written"
    NO_TEST = "no test passed every gate"
    PENDING = "waits for replies"
    BUDGET = "the budget is used up"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class InstanceResult:
    """One instance.

    detail: for FAILED, PENDING and BUDGET, why; else what ended the sampling early, if anything. added:
    tests that the bank did not have. samples, missing: replies had and not had. distinct: different tests
    that passed the static gates. counters: gate -> rejections; rejections: each of them as `gate | where
    | detail`. files, fallbacks: the localisation's files and the levels that fell back.
    left_out: versions of the writing prompt that were too large. grounds: where the quote stands that a
    test's author gives for it -> tests. coverage: None where not measured.
    """

    instance_id: str
    state: InstanceState
    detail: str = ""
    tests: tuple[AugmentedTest, ...] = ()
    added: int = 0
    samples: int = 0
    missing: int = 0
    ending: str = ""
    distinct: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)
    rejections: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()
    left_out: int = 0
    grounds: Mapping[str, int] = field(default_factory=dict)
    coverage: Coverage | None = None
    usage: Mapping[str, Usage] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def fail_to_pass(self) -> int:
        """Tests that base does not pass."""
        return sum(test.validation.base not in ("PASSED", "XFAIL", "XPASS") for test in self.tests)


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """A run over some instances.

    spent: of the transcript, earlier runs included. usd: the same by the given prices.
    """

    results: tuple[InstanceResult, ...]
    spent: Usage
    usd: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def undone(self) -> bool:
        """Whether no instance came to its end, and at least one failed or found the budget used up."""
        states = {one.state for one in self.results}
        ended = {InstanceState.WRITTEN, InstanceState.NO_TEST}
        return not states & ended and bool(states & {InstanceState.FAILED, InstanceState.BUDGET})

    @property
    def pending(self) -> tuple[str, ...]:
        """Instances that wait for replies."""
        return tuple(one.instance_id for one in self.results if one.state is InstanceState.PENDING)


def result_document(result: InstanceResult) -> dict[str, object]:
    """The result for machines: patches are in the bank, coverage as counts."""
    document = asdict(result)
    document["state"] = str(result.state)
    document["tests"] = [
        {"id": test.id, "targets": list(test.targets), "base": test.validation.base} for test in result.tests
    ]
    document["fail_to_pass"] = result.fail_to_pass
    document["pass_to_pass"] = len(result.tests) - result.fail_to_pass
    covered = result.coverage
    document["coverage"] = covered and {
        "changed_lines": len(covered.executable),
        "original": len(covered.original),
        "with_new": len(covered.with_new),
    }
    return document


def report_document(report: GenerationReport) -> dict[str, object]:
    """The report for machines (`generate --json`)."""
    return {
        "schema": SCHEMA,
        "instances": [result_document(result) for result in report.results],
        "spent": asdict(report.spent),
        "usd": report.usd,
        "notes": list(report.notes),
    }


def report_lines(report: GenerationReport) -> list[str]:
    """The report for people: a line an instance, then what was spent and what was found missing."""
    lines = []
    for one in report.results:
        told = f"{one.instance_id}: {one.state}"
        if one.state is InstanceState.WRITTEN:
            told += f" ({len(one.tests)}, {one.fail_to_pass} of them fail on base"
            told += f"; {one.added} new in the bank; {one.samples} samples, {one.distinct} distinct)"
        if one.coverage is not None:
            cov = one.coverage
            told += (
                f"; of gold's {len(cov.executable)} changed lines the original tests run "
                f"{len(cov.original)}, with the new ones {len(cov.with_new)}"
            )
        if one.detail:
            told += f": {one.detail}"
        lines.append(told)
        if one.missing:
            lines.append(f"  {one.missing} more samples were to be had and were not")
        if one.counters:
            lines.append(
                "  turned away: " + ", ".join(f"{gate} {count}" for gate, count in one.counters.items())
            )
        if one.grounds:
            lines.append(
                "  by their author they rest on: "
                + ", ".join(f"{source} {count}" for source, count in one.grounds.items())
            )
        if one.left_out:
            lines.append(f"  the writing prompt had no room for all; its version {one.left_out + 1} was sent")
        lines += [f"  {note}" for note in one.notes]
    if not report.results:
        lines.append("nothing to do: the bank has tests for every instance that was asked for")
    cost = f", {report.usd:.4f} USD" if report.usd is not None else ""
    exact = "" if report.spent.measured else " (bounds where the endpoint gave no figures)"
    spent = report.spent
    lines.append(
        f"tokens in the transcript, earlier runs included: {spent.prompt_tokens} in prompts, "
        f"{spent.completion_tokens} in replies{cost}{exact}"
    )
    return [*lines, *report.notes]
