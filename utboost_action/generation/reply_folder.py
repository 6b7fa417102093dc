"""Replies from a folder: prompts are written out as files, and whoever answers puts a file beside each.

`HASH.prompt.md` is the prompt; `HASH.reply.txt` answers its first sample, `HASH.reply.1.txt` the second,
and so on. Only the first is waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.generation.asking import Exchange, PendingReplyError, Reply, Request, Usage
from utboost_action.generation.transcripts import Transcript
from utboost_action.storage import write_atomically

_LIMIT = 1_000_000  # bytes of a reply file


class ReplyFolder:
    """A client whose replies people (or other programs) write.

    replies: where the answers are. prompts: where prompts without an answer are written, None for
    nowhere. transcript: takes what is read; it answers where a file is gone, and a file that was changed
    since counts for more. at: the time that replies are said to be of (ISO, UTC), so that runs repeat
    exactly.
    """

    def __init__(self, replies: Path, *, prompts: Path | None, transcript: Transcript, at: str = "") -> None:
        self._replies = replies
        self._prompts = prompts
        self._transcript = transcript
        self._at = at

    def ask(self, request: Request, samples: Sequence[int]) -> Mapping[int, Reply]:
        """The replies that are there. Raises PendingReplyError where none is, the prompt written out."""
        known = self._transcript.replies
        found: dict[int, Reply] = {}
        for sample in samples:
            reply = self._reply(request, sample) or known.get((request.hash, sample))
            if reply is not None:
                found[sample] = reply
        if not found:
            where = self._write_prompt(request, len(samples))
            raise PendingReplyError(f"the prompt {request.hash} ({request.stage}) waits for its reply{where}")
        new = {sample: reply for sample, reply in found.items() if known.get((request.hash, sample)) != reply}
        if new:
            self._transcript.append(
                Exchange(request, tuple(new), tuple(new.values()), Usage(), 0.0, self._at)
            )
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

    def _write_prompt(self, request: Request, samples: int) -> str:
        """Lay the prompt down; says where, for a message."""
        if self._prompts is None:
            return ""
        answer = f"{request.hash}.reply.txt"
        if samples > 1:
            answer += f" ({samples} are asked for, the next goes into {request.hash}.reply.1.txt)"
        parts = [
            f"instance: {request.instance_id}; stage: {request.stage}; temperature: {request.temperature:g}",
            f"Write the answer alone into {answer}. What follows is the prompt, all of it.",
            *(f"===== {message.role} =====\n{message.content}" for message in request.messages),
        ]
        file = self._prompts / f"{request.hash}.prompt.md"
        write_atomically(file, "\n\n".join(parts) + "\n")
        return f": {file}"
