"""The settings of a generation run, each with its default and its help text on the field."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.generation.budget import Prices
from utboost_action.generation.schedule import Profile, Step, parse_schedule, schedule_of

_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)


class Strategy(StrEnum):
    """What the author of the tests sees.

    issue: as published, no candidate. differential: also gold and one candidate; its tests are marked
    with their origin.
    """

    ISSUE = "issue"
    DIFFERENTIAL = "differential"


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """How tests are generated; `option_help` gives the texts for the command line."""

    model: str = field(
        default="",
        metadata={"help": "name of the model at the endpoint; a label where replies come from people"},
    )
    base_url: str = field(
        default="",
        metadata={"help": "URL of an OpenAI-compatible endpoint; empty: the openai package's default"},
    )
    strategy: Strategy = field(
        default=Strategy.ISSUE,
        metadata={"help": "issue (as published) or differential (sees gold and a candidate)"},
    )
    profile: Profile = field(
        default=Profile.PAPER, metadata={"help": "sampling schedule: paper (61 samples), quick (5) or custom"}
    )
    schedule: str = field(
        default="",
        metadata={"help": "steps of --profile custom, TEMPERATURExSAMPLES, for example 0x1,0.8x10"},
    )
    replay: Path | None = field(
        default=None, metadata={"help": "transcript to answer from, without any network"}
    )
    transcript: Path | None = field(
        default=None,
        metadata={"help": "file that exchanges are added to and answered from; default: in the run folder"},
    )
    prompts_out: Path | None = field(
        default=None,
        metadata={
            "help": "folder for prompts that wait for an answer, in place of an endpoint (HASH.prompt.md)"
        },
    )
    replies: Path | None = field(
        default=None,
        metadata={"help": "folder with such answers (HASH.reply.txt); default: the prompts' folder"},
    )
    budget_tokens: int | None = field(
        default=None, metadata={"help": "tokens to spend at most, prompts and replies"}
    )
    budget_usd: float | None = field(
        default=None, metadata={"help": "USD to spend at most; needs both prices"}
    )
    price_prompt: float | None = field(default=None, metadata={"help": "USD for a million prompt tokens"})
    price_completion: float | None = field(default=None, metadata={"help": "USD for a million reply tokens"})
    top_files: int = field(default=3, metadata={"help": "files that the first level of localisation keeps"})
    context_lines: int = field(default=10, metadata={"help": "lines shown around each located range"})
    context_tokens: int = field(
        default=3600, metadata={"help": "bound of the part that all prompts of an instance begin with"}
    )
    locate_tokens: int = field(
        default=1800, metadata={"help": "bound of what a localisation prompt adds to it"}
    )
    write_tokens: int = field(default=4200, metadata={"help": "bound of what the writing prompt adds to it"})
    reply_tokens: int = field(default=4096, metadata={"help": "tokens of one reply with tests at most"})
    gold_repeats: int = field(default=3, metadata={"help": "runs on gold that a test must pass, all of them"})
    test_seconds: float = field(default=60.0, metadata={"help": "seconds that a test may add to a run"})
    most_tests: int = field(
        default=60, metadata={"help": "distinct tests of an instance that are run at most"}
    )
    concurrency: int = field(default=4, metadata={"help": "calls under way at once"})
    timeout: float = field(default=300.0, metadata={"help": "seconds for a whole call"})
    retries: int = field(
        default=5, metadata={"help": "further tries of a call that failed in a way that may pass"}
    )

    def checked(self) -> GenerationOptions:
        """The same options. Raises InputError that names the option and what it takes."""
        self.steps()
        if not self.model:
            raise InputError(
                "--model is missing: the model's name at the endpoint, or a label for people's replies"
            )
        if self.budget_usd is not None and self.prices() is None:
            raise InputError(
                "--budget-usd needs --price-prompt and --price-completion (USD for a million tokens)"
            )
        for name, least in (("gold_repeats", 2), ("top_files", 1), ("context_lines", 0), ("concurrency", 1)):
            if getattr(self, name) < least:
                raise InputError(f"--{name.replace('_', '-')} must be {least} or more")
        for name in ("budget_tokens", "budget_usd", "price_prompt", "price_completion"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise InputError(f"--{name.replace('_', '-')} must be a number, 0 or more")
        if self.replay and (self.prompts_out or self.replies or self.transcript):
            raise InputError(
                "--replay answers everything: leave out --prompts-out, --replies and --transcript"
            )
        if self.base_url and not _HTTP.match(self.base_url):
            raise InputError(
                f"--base-url {self.base_url!r}: a URL begins with http:// or https://, "
                "for example http://localhost:8000/v1"
            )
        return self

    def steps(self) -> tuple[Step, ...]:
        """The sampling schedule. Raises InputError."""
        return schedule_of(self.profile, parse_schedule(self.schedule) if self.schedule else ())

    def prices(self) -> Prices | None:
        """Both prices, or None."""
        if self.price_prompt is None or self.price_completion is None:
            return None
        return Prices(self.price_prompt, self.price_completion)


def option_help() -> dict[str, str]:
    """Field name -> help text."""
    return {one.name: str(one.metadata["help"]) for one in fields(GenerationOptions)}
