"""What a submission says of itself in prose and figures: metadata.yaml (old and new), README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from utboost_action.leaderboard.documents import decode, read_bytes, read_json, read_yaml
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.tree import SubmissionTree, shown
from utboost_action.model import Finding

MAX_METADATA_BYTES = 128 * 1024
MAX_README_BYTES = 512 * 1024
MAX_NAME = 100

_FILES = ("metadata.yaml", "metadata.yml", "metadata.json")
_README = ("README.md", "readme.md", "README.rst", "README.txt", "README")
_COUNT_KEYS = (
    "resolved", "success_count", "successful", "num_resolved", "resolved_count", "resolved_instances",
    "total_resolved", "n_resolved", "solved", "passed",
)  # fmt: skip
_TOTAL_KEYS = ("total_tasks", "total_instances", "num_instances", "total_count", "n_instances", "total")
_RATE_KEYS = (
    "pass_rate", "resolve_rate", "resolved_rate", "success_rate", "percent_resolved", "resolved_percent",
    "score", "accuracy",
)  # fmt: skip
_TEXT_KEYS = ("description", "summary", "notes")
_FRACTION = re.compile(r"\b(\d{1,6})\s{0,3}(?:/|of|out\sof)\s{0,3}(\d{1,6})\b", re.IGNORECASE)
_COUNT = re.compile(r"\b(?:resolved|solved|successful)\W{0,12}(\d{1,6})\b(?!\s?%|\.\d)", re.IGNORECASE)
_PERCENT = re.compile(r"\b(\d{1,3}(?:\.\d{1,6})?)\s?%")
_ABOUT_SUCCESS = re.compile(r"resolv|solved|pass(?:ed)?[ _-]?rate|pass@1|success|accuracy", re.IGNORECASE)
_BIDI = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class FigureClaim:
    """One claim in figures: `resolved` of `total`, and the rate in percent as written.

    where: the file; key: the key of the metadata, "" for prose. text: the figures as written.
    """

    where: str
    key: str = ""
    resolved: int | None = None
    total: int | None = None
    percent: float | None = None
    decimals: int = 0
    text: str = ""

    @property
    def source(self) -> str:
        """The place: `metadata.json success_count`, `metadata.yaml "successful"`; of a rate, the file."""
        if not self.key or self.key.rpartition(".")[2].lower() in _RATE_KEYS:
            return self.where
        return f"{self.where} {self.key}" if self.where.endswith(".json") else f'{self.where} "{self.key}"'


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a submission; every field optional.

    name: cleaned (one line, no control or direction characters, at most MAX_NAME characters).
    site: only http(s). assets: `logs` and `trajs` outside of the tree, as written.
    """

    path: str = ""
    name: str = ""
    site: str = ""
    attempts: str = ""
    assets: Mapping[str, str] | None = None
    dataset: str = ""
    claims: tuple[FigureClaim, ...] = ()
    resolved_ids: tuple[str, ...] | None = None
    findings: tuple[Finding, ...] = ()


def read_metadata(tree: SubmissionTree) -> Metadata:
    """The first of metadata.yaml, .yml and .json that is there, read as hostile input."""
    path = next((name for name in _FILES if name in tree.files), None)
    if path is None:
        return Metadata(findings=(finding(FindingKind.NO_METADATA, "no metadata.yaml"),))
    reader = read_json if path.endswith(".json") else read_yaml
    document = reader(tree, path, MAX_METADATA_BYTES)
    found = list(document.findings)
    if path.endswith(".json"):
        found.append(
            finding(FindingKind.WRONG_METADATA, "metadata.json instead of metadata.yaml", where=path)
        )
    if not isinstance(document.value, dict):
        if not found:
            found.append(finding(FindingKind.UNREADABLE_FILE, "no mapping of names to values", where=path))
        return Metadata(path=path, findings=tuple(found))
    fields = dict(_flat(document.value))
    name, name_findings = _name(fields.get("name") or fields.get("info.name"), path)
    site, site_findings = _site(fields.get("site") or fields.get("info.site"), path)
    attempts = str(fields.get("tags.system.attempts") or fields.get("attempts") or "")[:40]
    found += name_findings + site_findings
    if attempts and attempts != "1":
        detail = f"attempts: {shown(attempts)}; the boards ask for pass@1"
        found.append(finding(FindingKind.SEVERAL_ATTEMPTS, detail, where=path))
    ids = fields.get("resolved")
    return Metadata(
        path=path,
        name=name,
        site=site,
        attempts=attempts,
        assets={
            key: str(fields[f"assets.{key}"])[:300]
            for key in ("logs", "trajs")
            if fields.get(f"assets.{key}")
        },
        dataset=str(fields.get("dataset") or "")[:200],
        claims=tuple(_figures(fields, path)),
        resolved_ids=tuple(str(item) for item in ids) if isinstance(ids, list) else None,
        findings=tuple(found),
    )


def read_readme_claims(tree: SubmissionTree) -> tuple[tuple[FigureClaim, ...], tuple[Finding, ...]]:
    """The claims of the README: lines that speak of success and hold `n of m`, `n/m` or a percentage."""
    path = next((name for name in _README if name in tree.files), None)
    if path is None:
        return (), ()
    data = read_bytes(tree, path, MAX_README_BYTES)
    if isinstance(data, Finding):
        return (), (data,)
    claims = []
    for line in decode(data)[0].splitlines():
        if len(line) < 1000 and _ABOUT_SUCCESS.search(line):
            claim = _claim_of_text(line, path, "")
            if claim is not None:
                claims.append(claim)
    return tuple(claims[:20]), ()


def _flat(value: Mapping[str, object], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Nested mappings as `info.name`; three levels are enough for every board."""
    for key, item in value.items():
        yield prefix + key, item
        if isinstance(item, dict) and depth < 3:
            yield from _flat(item, f"{prefix}{key}.", depth + 1)


def _name(value: object, path: str) -> tuple[str, list[Finding]]:
    if not isinstance(value, str):
        return "", []
    cleaned = "".join(char for char in _BIDI.sub("", value) if char.isprintable())
    if cleaned == value and len(value) <= MAX_NAME:
        return value, []
    detail = f"the name holds control or direction characters or more than {MAX_NAME} characters; it was cut"
    return cleaned[:MAX_NAME], [finding(FindingKind.NAME_REFUSED, detail, where=path)]


def _site(value: object, path: str) -> tuple[str, list[Finding]]:
    sites = value if isinstance(value, list) else [value]
    refused = []
    for site in sites:
        if not isinstance(site, str) or not site.strip():
            continue
        try:
            parts = urlsplit(site.strip())
        except ValueError:
            parts = urlsplit("")
        if parts.scheme in ("http", "https") and parts.netloc and site.isprintable():
            return site.strip()[:300], []
        refused.append(
            finding(FindingKind.SITE_REFUSED, f"site is no http or https address: {shown(site)}", where=path)
        )
    return "", refused


def _figures(fields: Mapping[str, object], path: str) -> Iterator[FigureClaim]:
    by_key: dict[str, tuple[str, object]] = {}
    for dotted, value in fields.items():
        by_key.setdefault(
            dotted.rpartition(".")[2].lower().replace(" ", "_").replace("-", "_"), (dotted, value)
        )
    total = next((_count(by_key[key][1]) for key in _TOTAL_KEYS if key in by_key), None)
    for key in _COUNT_KEYS:
        count = _count(by_key[key][1]) if key in by_key else None
        if count is not None:
            yield FigureClaim(path, by_key[key][0], count, total, text=str(count))
    for key in _RATE_KEYS:
        if key in by_key and isinstance(by_key[key][1], str | int | float):
            claim = _claim_of_text(str(by_key[key][1]), path, by_key[key][0])
            if claim is not None:
                yield claim
    for key in _TEXT_KEYS:
        value = by_key.get(key, ("", None))[1]
        if isinstance(value, str) and len(value) < 5000 and _ABOUT_SUCCESS.search(value):
            claim = _claim_of_text(value, path, by_key[key][0])
            if claim is not None:
                yield claim


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else None


def _claim_of_text(text: str, path: str, key: str) -> FigureClaim | None:
    fraction = _FRACTION.search(text)
    count = None if fraction else _COUNT.search(text)
    percent = _PERCENT.search(text)
    figure = fraction or count or percent
    if figure is None:
        return None
    number = percent.group(1) if percent else ""
    return FigureClaim(
        where=path,
        key=key,
        resolved=int(figure.group(1)) if fraction or count else None,
        total=int(fraction.group(2)) if fraction else None,
        percent=float(number) if number else None,
        decimals=len(number.partition(".")[2]),
        text=text.strip()[:100] if key else figure.group(0),
    )
