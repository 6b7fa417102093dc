"""read_log: slice, clean, read and judge one log."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from utboost_action.logs.reading import Reading
from utboost_action.logs.registry import Reader, reader_for
from utboost_action.logs.slicing import Region, find_region, unquote
from utboost_action.logs.text import LineNumbers, clean
from utboost_action.model import Evidence, LogFlag, ParsedLog

_TORN = b" (cut"
"""Added to a line that was cut in the middle: neither an id nor a verdict can end there."""


def read_log(
    data: bytes, parser: str, *, known_ids: Collection[str] = (), nonce: str | None = None
) -> ParsedLog:
    """Read a test log as its runner meant it.

    data: the raw log, any bytes; a log stored as one JSON string is unquoted first.
    parser: a parser name as in the benchmark's rows (`parse_log_django`) or short (`django`).
    known_ids: ids that the caller knows of (collected or listed); they settle where an id ends.
    nonce: for our own runs: only markers that carry it count.

    Never raises on account of `data`; raises InputError for an unknown parser.
    """
    reader = reader_for(parser)
    quoted = unquote(data)
    if quoted is not None:
        data = quoted
    region = find_region(data, nonce)
    known = frozenset(known_ids)
    reading, text, first = _read(data, region, reader, known)
    if region.generation in ("G4", "G5") and not (reading.statuses or reading.events or reading.closed):
        whole = replace(region, start=0, end=len(data))
        second = _read(data, whole, reader, known)
        if second[0].statuses or second[0].closed:
            reading, text, first = second
            reading.warn("the region between the markers is empty: the whole log was read")
    if reading.cut and region.generation == "text" and _torn(text):
        reading, text, first = _read(data, replace(region, cut=True), reader, known)
    if quoted is not None:
        region = replace(region, generation=region.generation + "+json")
    return _judge(reading, region, text, first)


def _read(data: bytes, region: Region, reader: Reader, known: frozenset[str]) -> tuple[Reading, bytes, int]:
    text = clean(data[region.start : region.end])
    if region.cut and _torn(text):
        text += _TORN
    return reader(text, known), text, data.count(b"\n", 0, region.start) + 1


def _torn(text: bytes) -> bool:
    """Whether the last line has no end, so that in a cut log it may be half a line."""
    return text != b"" and not text.endswith((b"\n", _TORN))


def _judge(reading: Reading, region: Region, text: bytes, first: int) -> ParsedLog:
    """Join what the slicing and the reader know: complete, flags, gradable, evidence."""
    warnings = [*region.warnings, *reading.warnings]
    flags = set(reading.flags)
    if region.injected:
        flags.add(LogFlag.INJECTION)
    complete = _complete(reading, region)
    if complete is False:
        flags.add(LogFlag.INCOMPLETE)
    refusal = region.refusal or reading.refusal
    failing = any(status.fails for status in (*reading.statuses.values(), *reading.events.values()))
    if reading.summary is not None and reading.summary.failed + reading.summary.errors:
        failing = True
    if region.exit_code and not failing and not refusal:
        refusal = f"exit code {region.exit_code}, but no failure is shown"
    if region.exit_code == 0 and failing:
        warnings.append("exit code 0, but failures are shown")
    broken = sum("\ufffd" in name for name in reading.spots)
    if broken:
        warnings.append(f"{broken} names hold bytes that are not UTF-8")
    if refusal:
        warnings.append(f"not to be used for a grade: {refusal}")
    return ParsedLog(
        statuses=reading.statuses,
        events=reading.events,
        evidence=_evidence(reading, text, first),
        docstrings=reading.docstrings,
        summary=reading.summary,
        complete=complete,
        flags=frozenset(flags),
        gradable=not refusal,
        generation=region.generation,
        warnings=tuple(warnings),
    )


def _complete(reading: Reading, region: Region) -> bool | None:
    if region.cut or reading.cut:
        return False
    if reading.closed:
        return True
    if region.generation == "own" or (region.delimited and not reading.statuses):
        return False
    return False if reading.begun and region.delimited else None


def _evidence(reading: Reading, text: bytes, first: int) -> dict[str, Evidence]:
    """Turn offsets into line numbers with one count over the text."""
    offsets = sorted({place for spot in reading.spots.values() for place in (spot.first, spot.last)})
    numbers = LineNumbers(text, first)
    line = {offset: numbers.at(offset) for offset in offsets}
    return {
        name: Evidence(line[spot.first], line[spot.last], spot.kind, spot.message)
        for name, spot in reading.spots.items()
        if name in reading.statuses or name in reading.events
    }
