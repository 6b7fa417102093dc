"""A board as Markdown and as one HTML page that needs no script."""

from __future__ import annotations

import re
from collections.abc import Mapping

import jinja2
import jinja2.sandbox

from utboost_action.report.escaping import printable
from utboost_action.report.render import markdown


def board_markdown(document: Mapping[str, object]) -> str:
    """The value of board.json as Markdown."""
    return markdown("board.md.j2", board=document)


def board_html(document: Mapping[str, object]) -> str:
    """The value of board.json as a page: self-contained, every foreign text escaped."""
    environment = jinja2.sandbox.SandboxedEnvironment(
        loader=jinja2.PackageLoader("utboost_action.report"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template("board.html.j2").render(board=document)
    return re.sub(r"\n{3,}", "\n\n", text)
