"""From the claimed rate to the adjusted one, step by step: a picture (SVG) and the same as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jinja2
import markupsafe

from utboost_action.report.escaping import printable

_WIDTH = 40  # characters of the longest bar in the text form
_ROW, _LABEL, _BAR = 34, 250, 420  # pixels
_HEADING = 15  # pixels of its letters
_SURE, _OPEN = "#2f6f4f", "#c9a227"


@dataclass(frozen=True, slots=True)
class Step:
    """One line: a count, what it is, and how many of it may still turn out either way (`is_open`)."""

    label: str
    count: int
    is_change: bool = False
    is_open: bool = False


def steps_of(document: Mapping[str, object]) -> tuple[Step, ...]:
    """The steps of a report document: claimed, what each verdict takes away, what is left.

    Where nothing is claimed it starts from what the replay supports. Only instances that are claimed (or,
    without a claim, plausible) are steps down, so that the steps add up.
    """
    rates = _mapping(document["rates"])
    adjusted = _mapping(rates["adjusted"])
    low, high = _count(adjusted["low"]), _count(adjusted["high"])
    start, label = _count(rates["claimed"]), "claimed"
    if start is None:
        start, label = max(_count(rates["replayed"]) or 0, high or 0), "replayed"
    instances = [_mapping(item) for item in _list(document["instances"])]
    in_question = [item for item in instances if item["claimed"] is not False]
    steps = [Step(label, start)]
    left = start
    for verdict, what in _DOWN:
        lost = min(left, sum(item["verdict"] == verdict for item in in_question))
        if lost:
            left -= lost
            steps.append(Step(what, -lost, is_change=True))
    if left != (high or 0):  # plausible though not claimed, or claimed and resolved by nothing
        steps.append(Step("resolved though not claimed", (high or 0) - left, is_change=True))
    steps.append(Step("adjusted, high", high or 0, is_open=True))
    open_ones = (high or 0) - (low or 0)
    if open_ones:
        steps.append(Step("suspect, inconclusive, not audited", -open_ones, is_change=True, is_open=True))
    steps.append(Step("adjusted, low", low or 0))
    return tuple(steps)


_DOWN = (
    ("MISGRADED", "misgraded: an original test fails"),
    ("NOT_PLAUSIBLE", "not plausible when run again"),
    ("WRONG", "wrong: a confirmed test fails"),
)


def waterfall_text(steps: Sequence[Step], total: int) -> str:
    """Lines of label, bar and count; the longest bar is 40 characters, a change stands where it acts."""
    most = max((abs(step.count) for step in steps), default=0) or 1
    label = max((len(step.label) for step in steps), default=0)
    lines = []
    for step, begin, end in _spans(steps):
        left, right = round(begin * _WIDTH / most), round(end * _WIDTH / most)
        mark = ("~" if step.is_open else "-") if step.is_change else ("=" if step.is_open else "#")
        bar = " " * left + mark * max(right - left, 1 if step.count else 0)
        lines.append(f"{step.label:<{label}}  |{bar:<{_WIDTH}}| {_figure(step, total)}")
    return "\n".join(lines)


def waterfall_svg(steps: Sequence[Step], total: int, title: str) -> str:
    """The same as a picture of its own: no script, no outside reference; title may be anybody's text."""
    most = max((abs(step.count) for step in steps), default=0) or 1
    bars = [
        {
            "y": 44 + number * _ROW,
            "x": round(_LABEL + begin * _BAR / most, 1),
            "width": round(max((end - begin) * _BAR / most, 1.0 if step.count else 0.0), 1),
            "label": step.label,
            "figure": _figure(step, total),
            "color": _OPEN if step.is_open else "#b3392f" if step.is_change and step.count < 0 else _SURE,
        }
        for number, (step, begin, end) in enumerate(_spans(steps))
    ]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("utboost_action.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    shown = " ".join(printable(title).split())[:120]
    width = _LABEL + _BAR + 150
    fitting = (width - 24) // _HEADING  # letters, were each as wide as it is high
    return environment.get_template("waterfall.svg.j2").render(
        title=markupsafe.escape(shown),
        heading=markupsafe.escape(shown if len(shown) <= fitting else f"{shown[: fitting - 1]}\u2026"),
        heading_size=_HEADING,
        bars=bars,
        width=width,
        height=64 + len(bars) * _ROW,
        label=_LABEL,
        total=total,
    )


def _spans(steps: Sequence[Step]) -> list[tuple[Step, int, int]]:
    """Each step with where its bar begins and ends: a change hangs from the level before it."""
    spans = []
    level = 0
    for step in steps:
        if step.is_change:
            after = level + step.count
            spans.append((step, min(level, after), max(level, after)))
            level = after
        else:
            level = step.count
            spans.append((step, 0, step.count))
    return spans


def _figure(step: Step, total: int) -> str:
    share = 100 * abs(step.count) / total if total else 0.0
    sign = ("+" if step.count > 0 else "-") if step.is_change else ""
    return f"{sign}{abs(step.count)} ({sign}{share:.1f} %)"


def _count(rate: object) -> int | None:
    return None if rate is None else int(str(_mapping(rate)["count"]))


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"no object: {value!r}")
    return value


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"no list: {value!r}")
    return value
