"""The report as Markdown: one set of templates, several levels of detail, nothing cut inside Markdown.

Every value that a template prints goes through `escaping.inline` unless it is Markdown already, so a
forgotten filter shows an inert code element, never live text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

import jinja2
import jinja2.sandbox
import markupsafe

from utboost_action.report.escaping import Markdown, block, inline, printable

_PLAIN = re.compile(r"(?:[A-Za-z](?:[A-Za-z0-9 ,.;:()'-]|(?<=[A-Z])_(?=[A-Z]))*)?")
_LINKED = re.compile(r"www\.|\bGH-\d|\b[0-9a-f]{7,40}\b", re.IGNORECASE)


class Detail(StrEnum):
    """How much a report shows, most first. Every level names the level it is, by what it leaves out."""

    FULL = "full"  # every instance, every flag with all its evidence
    FLAGS = "flags"  # every flag with its main evidence; the other instances as counts
    COUNTS = "counts"  # rates and counts, flagged instances by name
    HEADLINE = "headline"  # one line


def render(
    document: Mapping[str, object],
    detail: Detail,
    *,
    loader: jinja2.BaseLoader | None = None,
) -> str:
    """A report document as Markdown.

    loader: templates of a user, searched before our own; theirs extend `utboost/report.md.j2`.

    Raises jinja2.TemplateError when a user's template is wrong.
    """
    return markdown("report.md.j2", loader, report=document, detail=str(detail))


def markdown(name: str, loader: jinja2.BaseLoader | None = None, **values: object) -> str:
    """A `.md.j2` template with its values; what it prints is inert unless it is Markdown on purpose."""
    template = _environment(loader, markdown=True).get_template(name)
    return re.sub(r"\n{3,}", "\n\n", template.render(**values))


def _environment(loader: jinja2.BaseLoader | None, *, markdown: bool) -> jinja2.Environment:
    own = jinja2.PackageLoader("utboost_action.report")
    environment = jinja2.sandbox.SandboxedEnvironment(
        loader=jinja2.ChoiceLoader(
            [loader or jinja2.DictLoader({}), own, jinja2.PrefixLoader({"utboost": own})]
        ),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize if markdown else None,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=markdown,  # after `finalize` there is nothing left to escape: macros stay as they are
    )
    environment.filters |= {"prose": prose, "fenced": block, "percent": percent, "yes_no": yes_no}
    return environment


def render_within(
    document: Mapping[str, object],
    limit: int,
    *,
    levels: Sequence[Detail] = tuple(Detail),
    loader: jinja2.BaseLoader | None = None,
) -> str:
    """The most detailed rendering of at most `limit` bytes of UTF-8; the last level whatever its size."""
    text = ""
    for level in levels:
        text = render(document, level, loader=loader)
        if len(text.encode("utf-8")) <= limit:
            break
    return text


def plain(document: Mapping[str, object], template: str) -> str:
    """A document as text for a terminal, by a `.txt.j2` template: no control characters, no Markdown."""
    text = _environment(None, markdown=False).get_template(template).render(report=document)
    return printable(re.sub(r"\n{3,}", "\n\n", text)).strip()


def prose(text: object) -> Markdown:
    """A sentence of ours: as it stands when nothing in it can be live, else as inline code."""
    shown = str(text)
    if _PLAIN.fullmatch(shown) and not _LINKED.search(shown):
        return Markdown(shown)
    return inline(shown, 600)


def percent(rate: object) -> Markdown:
    """A rate value of the document, `12 (4.0 %)`, or `unknown`."""
    if not isinstance(rate, Mapping):
        return Markdown("unknown")
    return Markdown(f"{int(rate['count'])} ({float(rate['percent']):.1f} %)")


def yes_no(value: object) -> Markdown:
    """A truth value in words; None is unknown."""
    return Markdown(
        {True: "yes", False: "no"}.get(value, "unknown") if isinstance(value, bool) else "unknown"
    )


def _finalize(value: object) -> object:
    return value if isinstance(value, markupsafe.Markup | int | float | jinja2.Undefined) else inline(value)
