"""A board from a leaderboard's checkout and the audits stored for it: one submission in memory at a time."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.leaderboard.checkout import read_claimed, submission_folders
from utboost_action.model import VerdictKind
from utboost_action.report.board import Board, Entry, places_of, unaudited

_MAX_REPORT = 256 << 20  # bytes of one report.json
_OPEN = (VerdictKind.SUSPECT, VerdictKind.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Audited:
    """One stored audit, as sets of instance ids of the benchmark; may_hold: open, and perhaps resolved."""

    judged: frozenset[str]
    holds: frozenset[str]
    may_hold: frozenset[str]
    by_verdict: Mapping[str, frozenset[str]]


def build_board(
    leaderboard: Path, audits: Path, instances: Collection[str], benchmark: str, split: str
) -> Board:
    """Read the claims of a split's submissions and the audits of them, and rank.

    instances: the split's ids; claims and verdicts of others do not count. Raises InputError for a
    checkout without submissions, and for a report.json that is none.
    """
    known = frozenset(instances)
    folders = list(submission_folders(leaderboard, split))
    reports = find_reports(audits, {folder.name for _, folder in folders}, split)
    notes: list[str] = []
    entries = []
    for own, folder in folders:
        claimed = read_claimed(folder, own)
        resolved = None if claimed.resolved is None else claimed.resolved & known
        report = reports.pop(folder.name, None)
        if report is None:
            entries.append(unaudited(folder.name, claimed.title, None if resolved is None else len(resolved)))
        else:
            entries.append(_entry(folder.name, claimed.title, resolved, read_audit(report, known)))
    if missing := sum(not entry.audited for entry in entries):
        notes.append(f"{missing} of {len(entries)} submissions have no stored audit: all they claim is open")
    if reports:
        notes.append(f"{len(reports)} stored audits are of no submission here, such as {min(reports)}")
    return Board(benchmark, split, len(known), places_of(entries), tuple(notes))


def find_reports(audits: Path, names: Collection[str], split: str) -> dict[str, Path]:
    """Submission -> report.json, for the audits of a split that are stored below a folder.

    A report belongs to the submission that its folder is named after, or else to the one that it names
    itself; where a name stands in several splits, to the one of its path, or that it names itself.
    """
    if not audits.is_dir():
        raise InputError(f"--audits {str(audits)!r}: no such folder; give the one with the stored audits")
    found: dict[str, Path] = {}
    for file in sorted(audits.rglob("report.json")):
        inside = file.relative_to(audits).parts[:-1]
        if file.parent.name in names and (split in inside or len(inside) == 1):
            found[file.parent.name] = file
            continue
        submission = _mapping(_load(file).get("submission"))
        name = str(submission.get("name", ""))
        if name and submission.get("split") in (None, split):
            found.setdefault(name, file)
    return found


def read_audit(file: Path, known: Collection[str]) -> Audited:
    """One report.json, reduced to sets of ids. Raises InputError when it is none."""
    value = _load(file)
    instances = value.get("instances")
    if value.get("schema") != 1 or not isinstance(instances, list):
        raise InputError(f"{str(file)!r}: no report of an audit (schema 1 with `instances`)")
    by_verdict: dict[str, set[str]] = {}
    may_hold: set[str] = set()
    judged: set[str] = set()
    for item in instances:
        instance_id, verdict = str(item.get("instance_id")), str(item.get("verdict"))
        if instance_id not in known or item.get("cause") == "not audited":
            continue
        judged.add(instance_id)
        by_verdict.setdefault(verdict, set()).add(instance_id)
        if verdict in _OPEN and (item.get("claimed") is not False or item.get("plausible") is True):
            may_hold.add(instance_id)
    return Audited(
        judged=frozenset(judged),
        holds=frozenset(by_verdict.get(VerdictKind.HOLDS, ())),
        may_hold=frozenset(may_hold),
        by_verdict={verdict: frozenset(ids) for verdict, ids in by_verdict.items()},
    )


def _entry(name: str, title: str, resolved: frozenset[str] | None, audited: Audited) -> Entry:
    """An entry's counts; the claim is the board's own, not the one that the audit saw."""
    claimed = resolved or frozenset()

    def of_claimed(kind: VerdictKind) -> int:
        ids = audited.by_verdict.get(kind, frozenset())
        return len(ids if resolved is None else ids & claimed)

    high = audited.holds | audited.may_hold | (claimed - audited.judged)
    return Entry(
        name=name,
        title=title,
        claimed=None if resolved is None else len(resolved),
        low=len(audited.holds),
        high=len(high),
        audited=len(audited.judged),
        wrong=of_claimed(VerdictKind.WRONG),
        misgraded=of_claimed(VerdictKind.MISGRADED),
        suspect=of_claimed(VerdictKind.SUSPECT),
    )


def _load(file: Path) -> Mapping[str, object]:
    try:
        if file.stat().st_size > _MAX_REPORT:
            raise InputError(f"{str(file)!r}: larger than {_MAX_REPORT >> 20} MiB; no report is")
        value = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(f"{str(file)!r}: cannot be read as JSON: {problem}") from None
    return _mapping(value)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
