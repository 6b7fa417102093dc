"""UTGenerator, top to bottom: for each instance the tree, where tests belong, the tests, the gates, the bank.

Joins generation with the sandbox and the bank. The command line calls `run_generation`; whoever has a
client of its own calls `generate`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from utboost_action.benchmark.bank import update_bank
from utboost_action.benchmark.rows import require_for_replay
from utboost_action.errors import AuditError, InputError
from utboost_action.eval_script import parse_eval_script
from utboost_action.execution.protocol import Sandbox
from utboost_action.generate.bench import SandboxBench
from utboost_action.generation.asking import (
    BudgetExhaustedError,
    ModelClient,
    PendingReplyError,
    ReplayMissError,
    Usage,
)
from utboost_action.generation.assembly import groups_of, patch_of, with_unique_names
from utboost_action.generation.connection import connected
from utboost_action.generation.gates import Gate, Tally
from utboost_action.generation.grounding import Ground, Source, ground_of
from utboost_action.generation.localisation import Location, Scope, localise
from utboost_action.generation.mentioned import mentioned_in
from utboost_action.generation.official import read_official
from utboost_action.generation.options import GenerationOptions, Strategy
from utboost_action.generation.prompting import differential_material, prefix_of
from utboost_action.generation.repository import RepositoryView
from utboost_action.generation.results import (
    GenerationReport,
    InstanceResult,
    InstanceState,
    report_document,
    result_document,
)
from utboost_action.generation.samples import Sample, merged, units_of_sample
from utboost_action.generation.sampling import Sampled, sample_tests
from utboost_action.generation.syntax import UnusableSourceError
from utboost_action.generation.tokens import PromptTooLargeError
from utboost_action.generation.trials import Rules, Validated, validate
from utboost_action.generation.units import Unit
from utboost_action.generation.writing import writing_prompt
from utboost_action.model import (
    PROPOSED_BY_MODEL,
    AugmentedTest,
    BankStatus,
    Instance,
    Signals,
    TestMode,
    Validation,
)
from utboost_action.storage import canonical_json, content_key, write_atomically

Progress = Callable[[InstanceResult], None]
_NOT_ISOLATED = "the generated tests ran in the local sandbox, which isolates nothing"
_DOCUMENTED = 4  # definitions that the issue names, shown to the author of the tests


def run_generation(
    options: GenerationOptions,
    instances: Sequence[Instance],
    bank: Path,
    *,
    sandbox: Sandbox,
    folder: Path,
    environ: Mapping[str, str],
    candidates: Mapping[str, str] | None = None,
    image_template: str | None = None,
    progress: Progress = lambda _result: None,
) -> GenerationReport:
    """Generate with the client that the options ask for; `generation.json` goes into `folder`.

    environ: holds the API key. candidates: instance id -> patch, for the strategy `differential`.
    Raises InputError for options or a transcript that cannot be used, and ReplayMissError.
    """
    with connected(options.checked(), folder, environ) as connection:
        report = generate(
            instances,
            bank,
            options,
            sandbox=sandbox,
            client=connection.client,
            folder=folder,
            candidates=candidates or {},
            image_template=image_template,
            progress=progress,
        )
        transcript = connection.transcript
        report = replace(
            report,
            results=tuple(replace(one, usage=transcript.usage_of(one.instance_id)) for one in report.results),
            spent=connection.budget.spent,
            usd=connection.budget.usd,
            notes=(*report.notes, *connection.notes),
        )
    write_atomically(folder / "generation.json", canonical_json(report_document(report)))
    return report


def generate(
    instances: Sequence[Instance],
    bank: Path,
    options: GenerationOptions,
    *,
    sandbox: Sandbox,
    client: ModelClient,
    folder: Path,
    candidates: Mapping[str, str] | None = None,
    image_template: str | None = None,
    progress: Progress = lambda _result: None,
) -> GenerationReport:
    """Generate tests for instances, one after another; what survives is in the bank before the next begins.

    bank: the bank's folder; entries that it has already stay as they are. folder: for logs and one JSON
    an instance. image_template: with `{instance_id}`, in place of the rows' images. An instance that
    fails, waits for replies or finds the budget used up is reported with its state, and the run goes on.
    Raises ReplayMissError, and InputError for a bank that cannot be read.
    """
    results = []
    for instance in instances:
        result = _guarded(instance, options, sandbox, client, folder, candidates or {}, image_template)
        result = replace(result, added=_add_to_bank(bank, instance, result.tests))
        write_atomically(folder / f"{instance.instance_id}.json", canonical_json(result_document(result)))
        progress(result)
        results.append(result)
    ran = any(result.distinct for result in results)
    notes = (_NOT_ISOLATED,) if sandbox.trusted_only and ran else ()
    return GenerationReport(tuple(results), spent=Usage(), notes=notes)


def _guarded(
    instance: Instance,
    options: GenerationOptions,
    sandbox: Sandbox,
    client: ModelClient,
    folder: Path,
    candidates: Mapping[str, str],
    image_template: str | None,
) -> InstanceResult:
    """The result of one instance, whatever goes wrong with it alone."""
    image = (image_template or instance.image or "").replace("{instance_id}", instance.instance_id.lower())
    missing = require_for_replay(replace(instance, image=image or None))
    if missing is not None:
        return _ended(instance, InstanceState.FAILED, f"the benchmark row lacks {missing}")
    candidate = candidates.get(instance.instance_id, "")
    if options.strategy is Strategy.DIFFERENTIAL and not candidate:
        return _ended(
            instance, InstanceState.FAILED, "--strategy differential needs a candidate patch for it"
        )
    try:
        bench = SandboxBench(
            sandbox=sandbox,
            instance=instance,
            image=image,
            script=parse_eval_script(instance.eval_script or ""),
            folder=folder / "logs" / instance.instance_id,
        )
        with bench:
            return _Generation(instance, options, client, bench, sandbox.image_id(image), candidate).result()
    except ReplayMissError:
        raise
    except PendingReplyError as problem:
        return _ended(instance, InstanceState.PENDING, str(problem))
    except BudgetExhaustedError as problem:
        return _ended(instance, InstanceState.BUDGET, str(problem))
    except (AuditError, PromptTooLargeError, UnusableSourceError) as problem:
        return _ended(instance, InstanceState.FAILED, str(problem))
    except (ValueError, RecursionError) as problem:  # of odd data; the other instances go on
        return _ended(instance, InstanceState.FAILED, f"{type(problem).__name__}: {problem}")
    finally:
        sandbox.discard(image)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the model gave. left_out: fuller writing prompts that did not fit. shown: the prompt sent."""

    location: Location
    left_out: int
    shown: str
    sampled: Sampled


class _Generation:
    """One instance on its way through the stages."""

    def __init__(
        self,
        instance: Instance,
        options: GenerationOptions,
        client: ModelClient,
        bench: SandboxBench,
        image_id: str,
        candidate: str,
    ) -> None:
        self.instance, self.options, self.client, self.bench = instance, options, client, bench
        self.image_id = image_id
        self.candidate = candidate
        self.tally = Tally()

    def result(self) -> InstanceResult:
        """All stages, in the order of the paper."""
        view = self.bench.view()
        self.official = read_official(self.instance.test_patch)
        asked = self.ask(view)
        location, sampled = asked.location, asked.sampled
        units = self.units(sampled, view)
        validated, notes = validate(units, view, self.bench, self.rules, self.tally)
        groups = groups_of([one.unit for one in validated])
        coverage = self.bench.coverage([patch_of(group, view) for group in groups])
        issue = self.instance.problem_statement
        grounds = [ground_of(one.unit.reason, issue, asked.shown) for one in validated]
        tests = tuple(
            self.entry(one, ground, sampled) for one, ground in zip(validated, grounds, strict=True)
        )
        return InstanceResult(
            instance_id=self.instance.instance_id,
            state=InstanceState.WRITTEN if tests else InstanceState.NO_TEST,
            tests=tests,
            samples=len(sampled.samples),
            missing=sampled.missing,
            ending=str(sampled.ending),
            detail=sampled.problem,
            distinct=len(units),
            counters=self.tally.counters(),
            rejections=tuple(f"{one.gate} | {one.where} | {one.detail}" for one in self.tally.rejections),
            files=location.files,
            fallbacks=location.fallbacks,
            left_out=asked.left_out,
            grounds=dict(sorted(Counter(str(ground.source) for ground in grounds).items())),
            coverage=coverage,
            notes=notes,
        )

    @property
    def rules(self) -> Rules:
        """The gates' own settings."""
        return Rules(self.options.gold_repeats, self.options.test_seconds)

    def ask(self, view: RepositoryView) -> _Asked:
        """Localise, then sample tests."""
        options, instance = self.options, self.instance
        differential = options.strategy is Strategy.DIFFERENTIAL
        prefix = prefix_of(
            instance.problem_statement,
            self.official,
            budget=options.context_tokens,
            mark_source=instance.test_patch + self.candidate + (instance.patch if differential else ""),
            extra=differential_material(instance.patch, self.candidate) if differential else None,
        )
        scope = Scope(
            instance_id=instance.instance_id,
            model=options.model,
            prefix=prefix,
            view=view,
            official=self.official,
            top_files=options.top_files,
            context_lines=options.context_lines,
            budget=options.locate_tokens,
        )
        location = localise(scope, self.client, self.tally)
        messages, fitted = writing_prompt(
            prefix,
            location,
            view,
            mentioned_in(instance.problem_statement, self.official.digests[0], view, _DOCUMENTED),
            budget=options.write_tokens,
            differential=differential,
        )
        silent = Tally()  # the gates are counted once, when all samples are there
        sampled = sample_tests(
            self.client,
            messages,
            options.steps(),
            model=options.model,
            max_tokens=options.reply_tokens,
            instance_id=instance.instance_id,
            read=lambda sample: units_of_sample(sample, view, self.official, silent),
        )
        return _Asked(location, fitted.step, prefix.text + fitted.text, sampled)

    def units(self, sampled: Sampled, view: RepositoryView) -> tuple[Unit, ...]:
        """The distinct units of all samples, uniquely named, at most `most_tests`."""
        found = [
            unit for one in sampled.samples for unit in units_of_sample(one, view, self.official, self.tally)
        ]
        distinct = merged(found, self.tally)
        for unit in distinct[self.options.most_tests :]:
            self.tally.reject(Gate.OVER_LIMIT, f"{unit.sample} {unit.test}")
        return with_unique_names(distinct[: self.options.most_tests], view)

    def entry(self, one: Validated, ground: Ground, sampled: Sampled) -> AugmentedTest:
        """A validated unit as an entry of the bank; its time is that of the reply it came from."""
        sample = next(sample for sample in sampled.samples if sample.label == one.unit.sample)
        in_issue = ground.source is Source.ISSUE
        return AugmentedTest(
            id=f"{self.instance.instance_id}:utg-{content_key(one.patch)[:12]}",
            instance_id=self.instance.instance_id,
            mode=TestMode.EXTENDS,
            patch=one.patch,
            targets=one.targets,
            source=f"utgenerator:{self.options.strategy}",
            status=BankStatus.CANDIDATE,
            validation=Validation(one.gold_runs, one.base, False, self.image_id, sample.reply.at or None),
            rationale=_rationale(one.unit, ground, sample, self.options.model),
            signals=Signals(
                issue=ground.text if in_issue else "",
                issue_from=f"{PROPOSED_BY_MODEL}{self.options.model}" if in_issue else "",
            ),
        )


def _rationale(unit: Unit, ground: Ground, sample: Sample, model: str) -> str:
    reason = f"rests on {ground.source}: {unit.reason}; " if unit.reason else ""
    return (
        f"{reason}written by {model}, prompt {sample.request_hash}, sample {unit.sample}, "
        f"temperature {sample.temperature:g}"
    )


def _ended(instance: Instance, state: InstanceState, detail: str) -> InstanceResult:
    return InstanceResult(instance.instance_id, state, detail)


def _add_to_bank(bank: Path, instance: Instance, tests: Sequence[AugmentedTest]) -> int:
    """Add what the bank lacks, and say how many; an entry that it has may have been confirmed since."""
    if bank.exists() and not bank.is_dir():
        raise InputError(f"--bank {str(bank)!r}: a file; tests are written to a folder, one file an instance")
    if not tests:
        return 0
    added: list[AugmentedTest] = []

    def lacking(now: tuple[AugmentedTest, ...]) -> list[AugmentedTest]:
        known = {test.id for test in now}
        added[:] = [test for test in tests if test.id not in known]
        return added

    update_bank(bank, instance.instance_id, lacking, instance.base_commit)
    return len(added)
