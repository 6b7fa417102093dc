"""What an audit is told, from the command line or from a workflow's inputs: one frozen value, checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from utboost_action.errors import InputError

LONGEST_TIMEOUT = 86_400.0  # seconds: a day


class SandboxKind(StrEnum):
    """Where patches run."""

    DOCKER = "docker"
    LOCAL = "local"


class FailOn(StrEnum):
    """Which verdicts make the audit end with exit code 3. Each includes the ones before it."""

    NEVER = "never"
    WRONG = "wrong"
    MISGRADED = "misgraded"
    SUSPECT = "suspect"


class Mode(StrEnum):
    """Which part of an audit a step of a workflow does (docs/action.md, Zones)."""

    AUTO = "auto"
    COLLECT = "collect"
    GENERATE = "generate"
    EXECUTE = "execute"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class ActionOptions:
    """What only a step of a workflow is told.

    submissions: shell patterns of the board's submission folders; none: found by content. exchange: the
    folder with the JSON files that travel between jobs. shards: at most so many; shard: which one to
    execute. data_branch: "" writes none. comment, status: whether these surfaces are wanted.
    """

    mode: Mode = Mode.AUTO
    github_token: str = field(default="", repr=False)
    submissions: tuple[str, ...] = ()
    exchange: Path = Path("utboost-exchange")
    shards: int = 20
    shard: int | None = None
    data_branch: str = ""
    comment: bool = True
    status: bool = True
    model: str = ""
    model_key: str = field(default="", repr=False)
    model_url: str = ""
    model_profile: str = "quick"
    budget_tokens: int = 2_000_000


@dataclass(frozen=True)  # no slots: the defaults are read off the class by the command line
class Settings:
    """Everything that decides an audit.

    timeout: seconds for each script in a sandbox. repeats: runs of every suite on gold and candidate.
    trees: the folder with prepared trees, for the local sandbox. cache: where gold and base runs are
    kept for later audits. template: a folder whose `report.md.j2` extends our own.
    """

    submission: Path
    benchmark: str
    bank: Path | None = None
    instances: tuple[str, ...] = ()
    out: Path = Path("utboost-out")
    sandbox: SandboxKind = SandboxKind.DOCKER
    trees: Path | None = None
    image_template: str | None = None
    pull: bool = True
    remove_images: bool = False
    repeats: int = 3
    timeout: float = 1800.0
    jobs: int = 1
    resume: bool = True
    cache: Path | None = None
    fail_on: FailOn = FailOn.NEVER
    template: Path | None = None
    shown_as: str = ""
    action: ActionOptions = ActionOptions()

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """The settings of a workflow step, from the variables that the runner makes of its inputs.

        The submission is not known yet. Raises InputError that names the input and an accepted value.
        """
        given = _Inputs(environ)
        return cls(
            submission=Path(),
            benchmark=given.text("benchmark"),
            bank=given.path("bank"),
            instances=given.words("instances"),
            out=given.path("out") or cls.out,
            sandbox=given.choice("sandbox", cls.sandbox),
            trees=given.path("trees"),
            image_template=given.text("image-template") or None,
            pull=given.flag("pull", cls.pull),
            remove_images=given.flag("remove-images", cls.remove_images),
            repeats=int(given.number("repeats", cls.repeats)),
            timeout=given.number("timeout", cls.timeout),
            jobs=int(given.number("jobs", cls.jobs)),
            cache=given.path("cache"),
            fail_on=given.choice("fail-on", cls.fail_on),
            template=given.path("template"),
            action=_action_options(given),
        ).checked(as_inputs=True)

    @property
    def submission_shown(self) -> str:
        """The submission's path as a reader knows it."""
        return self.shown_as or str(self.submission)

    def checked(self, *, as_inputs: bool = False) -> Settings:
        """The same settings. Raises InputError naming the first that is wrong, and a value that is right.

        as_inputs: name it as the workflow does (`input repeats`), not as the command line (`--repeats`).
        """
        named = "input " if as_inputs else "--"
        if self.repeats < 1:
            raise InputError(f"{named}repeats {self.repeats}: give a whole number from 1, for example 3")
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise InputError(
                f"{named}timeout {self.timeout:g}: give seconds above 0 and at most {LONGEST_TIMEOUT:g}, "
                "for example 1800"
            )
        if self.jobs < 1:
            raise InputError(f"{named}jobs {self.jobs}: give a whole number from 1, for example 2")
        if self.image_template is not None and "{instance_id}" not in self.image_template:
            raise InputError(
                f"{named}image-template {self.image_template!r}: it must hold {{instance_id}}, for example "
                "ghcr.io/epoch-research/swe-bench.eval.x86_64.{instance_id}"
            )
        if self.sandbox is SandboxKind.LOCAL and self.trees is None:
            raise InputError(f"{named}sandbox local needs {named}trees, the folder with the prepared trees")
        if self.trees is not None and not self.trees.is_dir():
            raise InputError(f"{named}trees {self.trees}: there is no such folder")
        if self.template is not None and not (self.template / "report.md.j2").is_file():
            raise InputError(f"{named}template {self.template}: it must be a folder that holds report.md.j2")
        for name, folder in (("out", self.out), ("cache", self.cache)):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise InputError(f"{named}{name} {folder}: there is a file of that name; name a folder")
        return self


def default_cache() -> Path:
    """`$XDG_CACHE_HOME/utboost-action/runs`, or the same below `~/.cache`."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "utboost-action" / "runs"


_Choice = TypeVar("_Choice", bound=StrEnum)


def input_variable(name: str) -> str:
    """The environment variable in which the runner hands over an input."""
    return f"INPUT_{name.upper()}"


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The inputs of a step, each read as what it is meant to be; an empty one counts as not given."""

    environ: Mapping[str, str]

    def text(self, name: str) -> str:
        return self.environ.get(input_variable(name), "").strip()

    def words(self, name: str) -> tuple[str, ...]:
        parts = self.text(name).replace("\n", ",").split(",")
        return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def path(self, name: str) -> Path | None:
        found = self.text(name)
        return Path(found) if found else None

    def flag(self, name: str, default: bool) -> bool:
        word = self.text(name).lower() or str(default).lower()
        if word not in ("true", "false"):
            raise InputError(f"input {name}: {word[:80]!a} is neither true nor false")
        return word == "true"

    def choice(self, name: str, default: _Choice) -> _Choice:
        word = self.text(name) or str(default)
        try:
            return type(default)(word)
        except ValueError:
            known = ", ".join(type(default))
            raise InputError(f"input {name}: {word[:80]!a} is none of {known}") from None

    def number(self, name: str, default: float) -> float:
        word = self.text(name)
        if not word:
            return default
        whole = isinstance(default, int)
        try:
            return int(word) if whole else float(word)
        except ValueError:
            kind = "whole number" if whole else "number"
            raise InputError(f"input {name}: {word[:80]!a} is no {kind}; for example {default:g}") from None


def _action_options(given: _Inputs) -> ActionOptions:
    default = ActionOptions()
    shards = int(given.number("shards", default.shards))
    if not 1 <= shards <= 256:
        raise InputError(f"input shards: {shards} is not from 1 to 256, the jobs that a matrix takes")
    shard = int(given.number("shard", 0))
    mode = given.choice("mode", default.mode)
    if mode is Mode.EXECUTE and shard < 1:
        raise InputError(
            "input shard: mode execute needs the number of its shard, for example ${{ matrix.shard }}"
        )
    return ActionOptions(
        mode=mode,
        github_token=given.text("github-token"),
        submissions=given.words("submissions"),
        exchange=given.path("exchange") or default.exchange,
        shards=shards,
        shard=shard or None,
        data_branch=given.text("data-branch"),
        comment=given.flag("comment", default.comment),
        status=given.flag("status", default.status),
        model=given.text("model"),
        model_key=given.text("model-key"),
        model_url=given.text("model-url"),
        model_profile=given.text("model-profile") or default.model_profile,
        budget_tokens=int(given.number("budget-tokens", default.budget_tokens)),
    )
