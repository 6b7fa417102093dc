"""Augmented tests for the instances of a plan that have none: the one part that holds the model's key.

What the model is shown is the benchmark's own (issue, repository, gold): nothing of a submission. What it
writes runs in the sandbox, without network and without the key, before it enters the plan as a candidate.
"""

from __future__ import annotations

from dataclasses import replace

from utboost_action import session
from utboost_action.activities.step import Step
from utboost_action.benchmark.bank import read_bank
from utboost_action.benchmark.rows import Benchmark
from utboost_action.errors import InputError
from utboost_action.generate import run_generation
from utboost_action.generation.connection import KEY_VARIABLE
from utboost_action.generation.options import GenerationOptions
from utboost_action.generation.schedule import Profile
from utboost_action.model import BankStatus
from utboost_action.shards import Plan


def generate(step: Step, plan: Plan, benchmark: Benchmark) -> Plan:
    """The plan with tests for instances that had none. Raises InputError when no model can be asked."""
    action = step.settings.action
    options = _options(step)
    if not action.model_key and not action.model_url:
        raise InputError(
            "input model-key: empty; the secret is missing, or this event gives no secrets (a fork's "
            "pull_request); set it, or leave out the input model"
        )
    have = {test.instance_id for test in plan.tests if test.status is not BankStatus.RETIRED}
    names = dict.fromkeys(name for one in plan.submissions for name in one.instances)
    wanted = [benchmark.instances[name] for name in names if name not in have]
    if not wanted:
        step.say("every instance has augmented tests; the model is not asked")
        return plan
    bank = step.scratch / "generated"
    bank.mkdir(exist_ok=True)
    with session.sandbox_of(step.settings) as sandbox:
        found = run_generation(
            options,
            wanted,
            bank,
            sandbox=sandbox,
            folder=step.settings.out / "generation",
            environ={KEY_VARIABLE: action.model_key},
            image_template=step.settings.image_template,
            progress=lambda result: step.say(f"{result.instance_id}: {result.state}"),
        )
    new = tuple(test for tests in read_bank(bank).values() for test in tests)
    notes = tuple(
        f"{result.instance_id}: no test generated: {result.state}"
        + (f" ({result.detail})" if result.detail else "")
        for result in found.results
        if not result.tests
    )
    return replace(
        plan,
        tests=(*plan.tests, *new),
        generated=tuple(test.id for test in new),
        notes=(*plan.notes, *notes),
        how=replace(plan.how, bank=plan.how.bank or ("bank" if new else "")),
    )


def _options(step: Step) -> GenerationOptions:
    action = step.settings.action
    if not action.model:
        raise InputError("input model: the name of the model to ask, at the endpoint of the input model-url")
    try:
        profile = Profile(action.model_profile)
    except ValueError:
        raise InputError(
            f"input model-profile: {action.model_profile[:80]!a} is none of paper, quick"
        ) from None
    return GenerationOptions(
        model=action.model,
        base_url=action.model_url,
        profile=profile,
        budget_tokens=action.budget_tokens,
    )
