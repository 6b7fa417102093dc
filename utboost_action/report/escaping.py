"""The one place where text from outside becomes Markdown. Everything else in a report is our own text.

Measured rule (docs/security.md): in a table cell or a line, a code element whose every character that
is no letter, digit or space stands as a numeric entity (the at sign in an element of its own) is always
one cell and never a tag, link, mention or marker; a block is a fence longer than any run of backticks in it.
"""

from __future__ import annotations

import re
import unicodedata

import markupsafe

_BACKTICKS = re.compile(r"`+")
_KEPT_CONTROLS = "\n\t"
_DROPPED_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


class Markdown(markupsafe.Markup):
    """Text that is Markdown on purpose: made by this module or by our own templates.

    A `Markup`, so that what a template's macro returns counts as Markdown too.
    """

    __slots__ = ()


def printable(text: str) -> str:
    """The text without control, format (direction marks included), surrogate and private characters."""
    return "".join(
        c for c in text if c in _KEPT_CONTROLS or unicodedata.category(c) not in _DROPPED_CATEGORIES
    )


def inline(text: object, limit: int = 200) -> Markdown:
    """Foreign text as one inert inline code element of at most `limit` characters of text, cut with `...`."""
    if isinstance(text, markupsafe.Markup):
        return Markdown(text)
    shown = " ".join(printable(str(text)).split())
    if len(shown) > limit:
        shown = shown[: limit - 3] + "..."
    if not shown:
        return Markdown("")
    return Markdown(f"<code>{''.join(_entity(c) for c in shown)}</code>")


def block(text: str, limit: int = 4000, language: str = "text") -> Markdown:
    """Foreign text as a fenced block, cut at a line end near `limit` characters and saying so."""
    shown = printable(text).strip("\n")
    if len(shown) > limit:
        kept = shown[:limit].rpartition("\n")[0] or shown[:limit]
        shown = f"{kept}\n[{len(shown) - len(kept)} more characters]"
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markdown(f"{fence}{language}\n{shown}\n{fence}")


def _entity(character: str) -> str:
    if character == " " or (character.isascii() and character.isalnum()):
        return character
    if character == "@":  # an element of its own: mail addresses are linked even when it is an entity
        return "<span>&#64;</span>"
    return f"&#{ord(character)};"
