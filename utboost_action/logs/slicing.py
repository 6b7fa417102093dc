"""Which part of a log is test output: one rule a generation of the harness (docs/logs.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

START, END = b">>>>> Start Test Output", b">>>>> End Test Output"

_EXIT = re.compile(rb"(?:\+ echo )?'?>>>>> Test Exit Code: (-?\d{1,9})'?[ \t\r]*$", re.MULTILINE)
_TIMEOUT = re.compile(rb"(?:^|\n)Timeout error: [\d.]{1,20} seconds exceeded\.\s*\Z")
_REFUSAL = re.compile(
    rb">>>>> (Patch Apply Failed|Reset Failed|Tests Errored|Tests Timed Out|Init Failed|Init Timed Out)"
)
_PRINTED = re.compile(rb">>>>> (?:Start Test Output|End Test Output|Test Exit Code:)")

# Old logs (harness 1.x, conda).
_OLD_APPLIED = re.compile(rb">>>>> Applied Patch \((pred|pred_minimal|test)\)[ \r]*$", re.MULTILINE)
_OLD_SIGN = re.compile(rb">>>>> (?:(?:Applied Patch|Patch Apply Failed;) ?\(|Init )")
_OLD_SCRIPT = re.compile(rb"Test Script:")
_OLD_END = re.compile(rb">>>>> (Some Tests Failed|All Tests Passed|Tests Timed Out|Tests Errored)")
_OLD_EXIT = re.compile(rb"^(?:\[[^\]\n]{1,200}\] ){0,2}Return Code: (-?\d{1,9})[ \r]*$", re.MULTILINE)

# Container logs without markers (harness 2.x).
_APPLY = re.compile(rb"\+ git apply -v -[ \r]*$", re.MULTILINE)
_CHECKOUT = re.compile(rb"\+ git checkout [0-9a-f]{40}\b")
_TRACE = re.compile(rb"\+ [^\n]*$", re.MULTILINE)

_BRACKETS = b">>>>> "


@dataclass(frozen=True, slots=True)
class Region:
    """The test output of a log: data[start:end].

    delimited: the harness's own text says where it starts. ended: that text also says that the test
    command came to its end. cut: a sign that it did not. exit_code: of the test command, None if unknown.
    refusal: why the log may not be used for a grade. injected: markers that the harness did not write.
    """

    start: int
    end: int
    generation: str
    delimited: bool = True
    ended: bool = True
    cut: bool = False
    exit_code: int | None = None
    refusal: str = ""
    injected: bool = False
    warnings: tuple[str, ...] = ()


def find_region(data: bytes, nonce: str | None = None) -> Region:
    """Find the test output of a log.

    With a nonce only markers that carry it count ("own"). Otherwise the generation is found from the
    text: "G1" (Applied Patch markers), "G2" (shell trace without markers, also G3), "G4" (Start and End
    markers), "G5" (and an exit-code line), "text" (none of these: the whole).
    """
    if nonce is not None:
        return _timed_out(_own(data, nonce), data)
    if data.startswith((b"Task Metadata:", b"[")) and b"Task Metadata:" in data[:4096]:
        region = _old(data)
    elif _markers(data, START):
        region = _marked(data)
    elif (apply := next(_at_line_starts(data, b"+ git apply", _APPLY), None)) is not None:
        region = _traced(data, apply)
    elif any(_at_line_starts(data, _BRACKETS, _OLD_SIGN)):
        region = _old(data)
    else:
        region = Region(0, len(data), "text", delimited=False, ended=False)
    return _timed_out(region, data)


def unquote(data: bytes) -> bytes | None:
    """Return the text of a log that was stored as one JSON string, None if it was not.

    A string that was cut (no closing quote) is read as far as it goes.
    """
    if not data.startswith(b'"') or b"\\n" not in data[:1_000_000]:
        return None
    text = data.strip().decode("utf-8", "replace")
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        if not error.msg.startswith(("Unterminated string", "Invalid \\")):
            return None
    for candidate in (text, text.rstrip("\\") + '"', text[: text.rfind("\\")] + '"'):
        try:
            value = json.loads(candidate, strict=False)
        except ValueError:
            continue
        if isinstance(value, str):
            return value.encode("utf-8", "surrogatepass")
    return None


def _markers(data: bytes, text: bytes, suffix: bytes = b"") -> list[tuple[int, int]]:
    """Return (start, end of line) of each marker in shell-trace form that ends its line."""
    marker = b"+ : '" + text + suffix + b"'"
    found: list[tuple[int, int]] = []
    position = data.find(marker)
    while position >= 0:
        after = position + len(marker)
        if data[after : after + 1] in (b"", b"\n", b"\r"):
            newline = data.find(b"\n", after, after + 3)
            found.append((position, newline + 1 if newline >= 0 else min(after + 1, len(data))))
        position = data.find(marker, after)
    return found


def _at_line_starts(
    data: bytes, literal: bytes, pattern: re.Pattern[bytes], start: int = 0, end: int | None = None
) -> Iterator[re.Match[bytes]]:
    """Yield the matches of `pattern` at the starts of lines; `literal` is what every match begins with."""
    limit = len(data) if end is None else end
    position = start
    if (position > 0 and data[position - 1 : position] != b"\n") or not data.startswith(literal, position):
        position = data.find(b"\n" + literal, max(0, start - 1), limit) + 1
        if position == 0:
            return
    while position < limit:
        match = pattern.match(data, position, limit)
        if match is not None:
            yield match
        position = data.find(b"\n" + literal, position, limit) + 1
        if position == 0:
            return


def _prints_markers(data: bytes, region: Region) -> bool:
    return any(_at_line_starts(data, _BRACKETS, _PRINTED, region.start, region.end))


def _own(data: bytes, nonce: str) -> Region:
    suffix = b" " + nonce.encode()
    starts, ends = _markers(data, START, suffix), _markers(data, END, suffix)
    if not starts:
        return Region(
            0,
            0,
            "own",
            ended=False,
            cut=True,
            refusal="no start marker of this run",
            warnings=("the log has no start marker with the nonce of this run",),
        )
    region = _between(starts, ends, data, "own")
    if _prints_markers(data, region):
        return replace(
            region, injected=True, warnings=(*region.warnings, "the test output prints harness markers")
        )
    return region


def _marked(data: bytes) -> Region:
    starts, ends = _markers(data, START), _markers(data, END)
    apply = next(_at_line_starts(data, b"+ git apply", _APPLY), None)
    if apply is not None:
        after = [marker for marker in starts if marker[0] > apply.start()]
        starts = after or starts
    region = _between(starts, ends, data, "G4")
    codes = _exit_codes(data, region.end) if region.ended else []
    if codes:
        region = replace(region, generation="G5", exit_code=codes[-1])
    warnings, injected = list(region.warnings), region.injected
    if _prints_markers(data, region):
        injected = True
        warnings.append("the test output prints harness markers")
    refusal = _refusal(data, region)
    return replace(region, refusal=refusal, injected=injected, warnings=tuple(warnings))


def _exit_codes(data: bytes, start: int) -> list[int]:
    """The exit codes written after the test output, in order: as an echo, as its trace, or both."""
    found = [
        (match.start(), int(match[1]))
        for literal in (_BRACKETS, b"+ echo ")
        for match in _at_line_starts(data, literal, _EXIT, start)
    ]
    return [code for _, code in sorted(found)]


def _between(
    starts: list[tuple[int, int]], ends: list[tuple[int, int]], data: bytes, generation: str
) -> Region:
    """From the first Start to the last End; more than one of either is a finding."""
    start = starts[0][1]
    ends = [marker for marker in ends if marker[0] >= start]
    warnings: tuple[str, ...] = ()
    if len(starts) > 1 or len(ends) > 1:
        warnings = (
            f"{len(starts)} start and {len(ends)} end markers: the text between the outermost was read",
        )
    if not ends:
        return Region(
            start,
            len(data),
            generation,
            ended=False,
            cut=True,
            injected=bool(warnings),
            warnings=(*warnings, "no end marker: the log was cut"),
        )
    return Region(start, ends[-1][0], generation, injected=bool(warnings), warnings=warnings)


def _refusal(data: bytes, region: Region) -> str:
    for start, end in ((0, region.start), (region.end, len(data))):
        match = next(_at_line_starts(data, _BRACKETS, _REFUSAL, start, end), None)
        if match is not None:
            return f"the harness wrote {match[1].decode()!r}"
    return ""


def _traced(data: bytes, apply: re.Match[bytes]) -> Region:
    """After the test patch and the trace of the test command, up to the last checkout of the base."""
    warnings: tuple[str, ...] = ()
    injected = False
    start = apply.end()
    command = next(_at_line_starts(data, b"+ ", _TRACE, start), None)
    while command is not None:
        start = min(command.end() + 1, len(data))
        command = _TRACE.match(data, start)
    if any(_at_line_starts(data, b"+ git apply", _APPLY, start)):
        injected, warnings = True, ("the trace of the test patch stands more than once: the first was taken",)
    end, ended = len(data), False
    for checkout in _at_line_starts(data, b"+ git checkout ", _CHECKOUT, start):
        end, ended = checkout.start(), True
    return Region(start, end, "G2", ended=ended, cut=not ended, injected=injected, warnings=warnings)


def _old(data: bytes) -> Region:
    """After the last real Applied Patch marker and its Test Script line, up to the closing marker."""
    applied = list(_at_line_starts(data, _BRACKETS, _OLD_APPLIED))
    scripts = [match.start() for match in _at_line_starts(data, b"Test Script:", _OLD_SCRIPT)]
    if not applied or not scripts:
        reason = next(_at_line_starts(data, _BRACKETS, _REFUSAL), None)
        said = f"the harness wrote {reason[1].decode()!r}" if reason else "no run of the patched program"
        return Region(len(data), len(data), "G1", ended=False, cut=True, refusal=said)
    warnings: tuple[str, ...] = ()
    injected = False
    script = next((position for position in scripts if position > applied[-1].start()), -1)
    kinds = [match[1] for match in applied]
    if script < 0 or len(set(kinds)) < len(kinds):
        injected, warnings = True, ("Applied Patch markers stand in the test output",)
        before = [position for position in scripts if position > applied[0].start()]
        if not before:
            return Region(
                len(data), len(data), "G1", ended=False, cut=True, refusal="no run of the patched program"
            )
        script = before[0]
    newline = data.find(b"\n", script)
    start = newline + 1 if newline >= 0 else len(data)
    closing = None
    for closing in _at_line_starts(data, _BRACKETS, _OLD_END, start):  # noqa: B007  the last one
        pass
    end = closing.start() if closing is not None else len(data)
    code = None
    for match in _OLD_EXIT.finditer(data, max(start, end - 4096), end):
        code = int(match[1])
    last_word = closing[1] if closing is not None else b""
    stopped = last_word in (b"Tests Timed Out", b"Tests Errored")
    if code is None and last_word == b"All Tests Passed":
        code = 0
    return Region(
        start,
        end,
        "G1",
        ended=closing is not None and not stopped,
        cut=closing is None or stopped,
        exit_code=code,
        injected=injected,
        warnings=warnings,
    )


def _timed_out(region: Region, data: bytes) -> Region:
    """The harness appends its time-out line after two newlines: what stands before them is the output."""
    tail = _TIMEOUT.search(data, max(0, len(data) - 300))
    if tail is None:
        return region
    end = region.end
    if region.end == len(data) and tail.start() >= region.start:
        end = max(region.start, tail.start() - data.startswith(b"\n", max(0, tail.start() - 1)))
    warnings = (*region.warnings, "the harness stopped the run for its time")
    return replace(region, end=end, cut=True, ended=False, warnings=warnings)
