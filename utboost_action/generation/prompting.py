"""Prompts: Jinja files rendered with data that is fenced, and the prefix that all of an instance share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import jinja2

from utboost_action.generation.asking import Message
from utboost_action.generation.official import OfficialPatch
from utboost_action.generation.tokens import PromptTooLargeError, first_fitting, token_bound


@dataclass(frozen=True, slots=True)
class Prefix:
    """What every prompt of an instance begins with: the system message, issue and test patch.

    mark: ends the fences of all data; no data of the instance holds it. shortened: whether paragraphs
    of the issue or parts of the test patch were left out.
    """

    system: str
    text: str
    mark: str
    shortened: bool


@dataclass(frozen=True, slots=True)
class DifferentialMaterial:
    """What the strategy `differential` shows besides: the reference patch and one candidate."""

    gold: str
    candidate: str


def differential_material(gold: str, candidate: str) -> DifferentialMaterial:
    """Both patches as text, whole."""
    return DifferentialMaterial(gold.strip("\n"), candidate.strip("\n"))


def prefix_of(
    issue: str,
    official: OfficialPatch,
    *,
    budget: int,
    mark_source: str,
    extra: DifferentialMaterial | None = None,
) -> Prefix:
    """The fullest prefix within `budget` tokens: issue whole, then less of the test patch, then of the issue.

    extra: the patches of the differential strategy, None for the issue strategy. Raises PromptTooLargeError.
    """
    mark = _mark(issue, mark_source)
    system = _render("system.j2", mark=mark)
    versions = [
        _render("prefix.j2", mark=mark, issue=text, left_out=left_out, digest=digest, extra=extra)
        for text, left_out, digest in _versions(issue, official.digests)
    ]
    fitted = first_fitting(versions, budget - token_bound(system))
    return Prefix(system, fitted.text, mark, shortened=fitted.step > 0)


def messages(prefix: Prefix, task: str) -> tuple[Message, ...]:
    """A prompt: system message, then the shared prefix and the stage's task in one user message."""
    return (Message("system", prefix.system), Message("user", f"{prefix.text}\n{task}"))


def render(template: str, prefix: Prefix, **values: object) -> str:
    """A stage's task from its Jinja file; `mark` is the prefix's own."""
    return _render(template, mark=prefix.mark, **values)


def repaired(asked: tuple[Message, ...], reply: str, problem: str) -> tuple[Message, ...]:
    """The prompt of the one repair round: what was asked, what came, and what is wrong with it."""
    return (
        *asked,
        Message("assistant", reply or "(empty)"),
        Message("user", _render("repair.j2", problem=problem)),
    )


def _versions(issue: str, digests: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    for digest in digests:
        yield issue.strip(), 0, digest
    paragraphs = issue.strip().split("\n\n")
    for left_out in range(1, len(paragraphs)):
        yield "\n\n".join(paragraphs[:-left_out]), left_out, digests[-1]


def _mark(*data: str) -> str:
    """Six hex digits that none of the texts holds, the same for the same texts."""
    joined = "\0".join(data)
    for salt in range(1000):
        mark = hashlib.sha256(f"{salt}\0{joined}".encode("utf-8", "surrogatepass")).hexdigest()[:6]
        if mark not in joined:
            return mark
    raise PromptTooLargeError("the issue holds every fence mark")  # no text that fits a prompt does


def _render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values).strip("\n")


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("utboost_action.generation", "prompts"),
        autoescape=jinja2.select_autoescape(()),  # plain text: data is fenced, not escaped
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
