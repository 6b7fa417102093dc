"""Replies from a folder: prompts are written out as files, and whoever answers puts a file beside each.

`HASH.prompt.md` is the prompt; `HASH.reply.txt` answers its first sample, `HASH.reply.1.txt` the second,
and so on. Only the first is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.generation.asking import Exchange, PendingReplyError, Reply, Request, Usage
from utboost_action.storage import write_atomically

_LIMIT = 1_000_000  # bytes of a reply file


class ReplyFolder:
    """A client whose replies people (or other programs) write.

    replies: where the answers are. prompts: where prompts without an answer are written, None for
    nowhere. at: the time that replies are said to be of (ISO, UTC), so that runs repeat exactly.
    """

    def __init__(
        self, replies: Path, *, prompts: Path | None, record: Callable[[Exchange], None], at: str = ""
    ) -> None:
        self._replies = replies
        self._prompts = prompts
        self._record = record
        self._at = at

    def ask(self, request: Request, samples: Sequence[int]) -> Mapping[int, Reply]:
        """The replies that are there. Raises PendingReplyError where none is, the prompt written out."""
        found = {sample: reply for sample in samples if (reply := self._reply(request, sample)) is not None}
        if not found:
            self._write_prompt(request)
            raise PendingReplyError(
                f"{request.instance_id}: the prompt {request.hash} ({request.stage}) waits for its reply"
            )
        self._record(Exchange(request, tuple(found), tuple(found.values()), Usage(), 0.0, self._at))
        return found

    def _reply(self, request: Request, sample: int) -> Reply | None:
        name = f"{request.hash}.reply{f'.{sample}' if sample else ''}.txt"
        try:
            data = (self._replies / name).read_bytes()
        except FileNotFoundError:
            return None
        if len(data) > _LIMIT:
            raise InputError(f"{self._replies / name}: larger than {_LIMIT} bytes")
        try:
            return Reply(data.decode("utf-8-sig"), "stop", self._at)
        except UnicodeDecodeError as problem:
            raise InputError(f"{self._replies / name}: not UTF-8: {problem}") from None

    def _write_prompt(self, request: Request) -> None:
        if self._prompts is None:
            return
        parts = [
            f"instance: {request.instance_id}; stage: {request.stage}; temperature: {request.temperature:g}",
            f"Write the answer alone into {request.hash}.reply.txt. What follows is the prompt, all of it.",
            *(f"===== {message.role} =====\n{message.content}" for message in request.messages),
        ]
        write_atomically(self._prompts / f"{request.hash}.prompt.md", "\n\n".join(parts) + "\n")
