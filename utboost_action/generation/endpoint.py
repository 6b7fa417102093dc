"""The model client for OpenAI-compatible endpoints: bounded retries, limits, budgets, every call recorded."""

from __future__ import annotations

import email.utils
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import BoundedSemaphore
from typing import Any

import httpx2
import openai

from utboost_action.generation.asking import BudgetExhaustedError, Exchange, ModelError, Reply, Request, Usage
from utboost_action.generation.budget import Budget
from utboost_action.generation.endpoint_features import Feature, Features, body_of
from utboost_action.generation.tokens import tokens_at_most

_MOST_CHOICES = 200
_ERROR_TEXT = 300  # characters of an endpoint's message that are shown


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """What calls may take.

    timeout: seconds for a whole call. retries: further tries of a call. body: bytes of a response that
    are read. longest_wait: seconds that a Retry-After may ask for. concurrency: calls at once.
    """

    timeout: float = 300.0
    retries: int = 5
    body: int = 16 << 20
    longest_wait: float = 120.0
    concurrency: int = 4


class _AgainError(Exception):
    """A try that failed in a way that may pass.

    wait: seconds the endpoint asked for. received: bytes of the reply that came. late: whether time ran
    out, so that the endpoint may have written the whole reply.
    """

    def __init__(
        self, reason: str, wait: float | None = None, received: int = 0, *, late: bool = False
    ) -> None:
        super().__init__(reason)
        self.wait = wait
        self.received = received
        self.late = late


class _NotServedError(ModelError):
    """The endpoint did nothing, and will not in time."""


class Endpoint:
    """A ModelClient over one `openai.OpenAI` (made with max_retries=0).

    record: takes every exchange, the failed tries included. clock: seconds, monotonic. now: UTC time.
    sleep: waits between tries.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        *,
        budget: Budget,
        record: Callable[[Exchange], None],
        clock: Callable[[], float],
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        limits: EndpointLimits = EndpointLimits(),
        features: Features | None = None,
    ) -> None:
        self._client = client
        self._budget = budget
        self._record = record
        self._clock, self._now, self._sleep = clock, now, sleep
        self._limits = limits
        self.features = features or Features()
        self._slots = BoundedSemaphore(limits.concurrency)

    def ask(self, request: Request, samples: Sequence[int]) -> Mapping[int, Reply]:
        """All samples, as one call where the endpoint takes `n`, else as parallel single calls.

        Raises ModelError when not one of them could be had, BudgetExhaustedError when none was begun.
        """
        wanted = list(samples)
        replies: dict[int, Reply] = {}
        if len(wanted) > 1 and self.features.has(Feature.MANY):
            replies.update(self._call(request, wanted))
            wanted = [sample for sample in wanted if sample not in replies]
        if len(wanted) == 1:
            replies.update(self._call(request, wanted) if not replies else self._tried(request, wanted[0])[0])
        elif wanted:
            replies.update(self._one_by_one(request, wanted, had=bool(replies)))
        return replies

    def _one_by_one(self, request: Request, samples: list[int], *, had: bool) -> Mapping[int, Reply]:
        """Single calls under the concurrency limit; the first goes alone, since it fills prompt caches."""
        replies, first_problem = self._tried(request, samples[0])
        problems = [first_problem] if first_problem else []
        if not isinstance(first_problem, BudgetExhaustedError):
            with ThreadPoolExecutor(self._limits.concurrency) as pool:
                futures: list[Future[tuple[dict[int, Reply], ModelError | None]]] = [
                    pool.submit(self._tried, request, sample) for sample in samples[1:]
                ]
            for future in futures:
                more, problem = future.result()
                replies.update(more)
                problems += [problem] if problem else []
        if not replies and not had:
            raise problems[0]
        if problems:
            self.features.note(f"{request.instance_id}: {len(problems)} samples were not had: {problems[0]}")
        return replies

    def _tried(self, request: Request, sample: int) -> tuple[dict[int, Reply], ModelError | None]:
        try:
            return self._call(request, [sample]), None
        except ModelError as problem:
            return {}, problem

    def _call(self, request: Request, samples: list[int]) -> dict[int, Reply]:
        """One call with its retries; features that the endpoint refuses are given up on the way."""
        tries = 0
        guessed: list[Feature] = []
        where = f"{request.instance_id}, {request.stage}"
        while True:
            if len(samples) > 1 and not self.features.has(Feature.MANY):
                return {}
            used = self.features.used_by(request, len(samples))
            try:
                return self._try(request, samples)
            except _AgainError as problem:
                tries += 1
                if tries > self._limits.retries:
                    raise ModelError(
                        f"{where}: no usable reply after {tries} tries: {problem} ({self._client.base_url})"
                    ) from None
                self._sleep(problem.wait if problem.wait is not None else min(60.0, 0.5 * 2**tries))
            except openai.APIStatusError as refusal:
                message, param = _told(refusal)
                may_be_feature = refusal.status_code in (400, 404, 415, 422, 501)
                feature = self.features.named(message, param, used) if may_be_feature else None
                if feature is None and may_be_feature and refusal.status_code != 404:
                    feature = self.features.guess(message, used)
                    guessed += [feature] if feature else []
                if feature is None:
                    self.features.restore(guessed)
                    answer = f"the endpoint answers {refusal.status_code}: {message}"
                    raise ModelError(f"{where}: {answer} ({self._client.base_url})") from None
                self.features.give_up(feature)

    def _try(self, request: Request, samples: list[int]) -> dict[int, Reply]:
        bound = Usage(
            tokens_at_most(*(message.content for message in request.messages)),
            request.max_tokens * len(samples),
            measured=False,
        )
        with self._slots, self._budget.call(bound) as call:
            begin, at = self._clock(), self._now().isoformat(timespec="seconds")
            try:
                replies, usage = self._answer(request, samples)
            except _AgainError as problem:
                made = bound.completion_tokens if problem.late else problem.received // 3
                lost = Usage(bound.prompt_tokens, made, measured=False) if made else Usage()
                call.settle(lost)
                if made:
                    self._record(Exchange(request, (), (), lost, self._clock() - begin, at))
                raise
            except _NotServedError:
                call.settle(Usage())
                raise
            except ModelError:  # a reply that was made and is of no use
                call.settle(bound)
                self._record(Exchange(request, (), (), bound, self._clock() - begin, at))
                raise
            except openai.APIStatusError:
                call.settle(Usage())  # refused: nothing was made
                raise
            call.settle(
                usage
                or Usage(bound.prompt_tokens, sum(tokens_at_most(r.text) for r in replies), measured=False)
            )
            stamped = tuple(Reply(reply.text, reply.finish, at) for reply in replies)
            taken = call.usage or Usage()
            self._record(Exchange(request, tuple(samples), stamped, taken, self._clock() - begin, at))
        if usage is None:
            self.features.note("the endpoint gives no usage figures: budgets count bounds from bytes")
        if len(samples) > 1 and len(stamped) == 1:
            self.features.give_up(Feature.MANY)  # taken without a word, and ignored
        return dict(zip(samples, stamped, strict=False))

    def _answer(self, request: Request, samples: list[int]) -> tuple[list[Reply], Usage | None]:
        """One HTTP exchange. Raises _AgainError for what may pass, openai.APIStatusError for a refusal."""
        limit = self._limits.timeout
        deadline = self._clock() + limit
        body, size = bytearray(), 0
        create: Any = self._client.chat.completions.with_streaming_response.create
        try:
            with create(**body_of(request, samples, self.features), timeout=limit) as response:
                for chunk in response.iter_bytes():
                    body += chunk
                    size += len(chunk)
                    if size > self._limits.body:
                        raise ModelError(f"a reply of more than {self._limits.body} bytes was left unread")
                    if self._clock() > deadline:
                        raise _AgainError(f"the reply took longer than {limit:g} s", received=size, late=True)
        except openai.APIStatusError as refusal:
            _raise_if_passing(refusal, self._limits.longest_wait, self._now())
            raise
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, OSError) as problem:
            late = isinstance(problem, openai.APITimeoutError | httpx2.ReadTimeout) and not isinstance(
                problem.__cause__, httpx2.ConnectTimeout
            )
            cause = str(problem.__cause__ or "")
            more = f" ({cause})" if cause and cause not in str(problem) else ""
            text = f"{type(problem).__name__}: {problem}{more}"[:_ERROR_TEXT]
            raise _AgainError(text, received=size, late=late) from None
        return _choices(bytes(body), len(samples))


def _choices(body: bytes, count: int) -> tuple[list[Reply], Usage | None]:
    """The replies of a response's body in the order of their indexes, and its usage where it has one."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        if body.lstrip()[:1] == b"<":
            raise _AgainError(
                "it is a web page; does the URL end as it should, for example in /v1?", received=len(body)
            ) from None
        raise _AgainError("the response is no JSON, or was cut", received=len(body)) from None
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list) or not choices:
        raise _AgainError("the response holds no choices", received=len(body))
    replies: list[tuple[int, Reply]] = []
    for number, choice in enumerate(choices[:_MOST_CHOICES]):
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise _AgainError("a choice of the response holds no message", received=len(body))
        text, index = message.get("content"), choice.get("index")
        finish = choice.get("finish_reason")
        reply = Reply(text if isinstance(text, str) else "", finish if isinstance(finish, str) else "")
        replies.append((index if isinstance(index, int) else number, reply))
    ordered = [reply for _index, reply in sorted(replies, key=lambda pair: pair[0])]
    return ordered[:count], _usage(value.get("usage"))


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    prompt, completion = value.get("prompt_tokens"), value.get("completion_tokens")
    if isinstance(prompt, int) and isinstance(completion, int) and prompt > 0 and completion >= 0:
        return Usage(prompt, completion)
    return None


def _raise_if_passing(refusal: openai.APIStatusError, longest: float, now: datetime) -> None:
    """Raise _AgainError for a status that may pass: 408, 409, 429 (unless the account is empty) and 5xx."""
    status, (message, _param) = refusal.status_code, _told(refusal)
    if status == 429 and "insufficient_quota" in f"{refusal.code} {message}":
        return
    if status in (408, 409, 425, 429) or (status >= 500 and status != 501):
        wait = _retry_after(refusal.response.headers.get("retry-after"), now)
        if wait is not None and wait > longest:
            raise _NotServedError(
                f"the endpoint answers {status} and asks to wait {wait:g} s, longer than {longest:g} s"
            )
        raise _AgainError(f"the endpoint answers {status}: {message}", wait)


def _retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds from a Retry-After header: a number or an HTTP date."""
    if not value:
        return None
    try:
        seconds = float(value)
        return None if math.isnan(seconds) else max(0.0, seconds)
    except ValueError:
        pass
    try:
        at = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())


def _told(refusal: openai.APIStatusError) -> tuple[str, str]:
    """The endpoint's own message on one line, and the parameter it names."""
    body = refusal.body if isinstance(refusal.body, dict) else {}
    message = body.get("message") or refusal.message
    return " ".join(str(message).split())[:_ERROR_TEXT], str(body.get("param") or "")
