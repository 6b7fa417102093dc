"""Names that only gold brings: a test that asks for one is about gold's text until something else says more.

Base lacks the name, and so does every patch that mends the same fault in other words; both then fail in
the same words, which would look like a fix that is not complete.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z_]\w*")
_LACKS = re.compile(
    r"has no attribute '(\w+)'|cannot import name '(\w+)'|name '(\w+)' is not defined|"
    r"unexpected keyword argument '(\w+)'|No module named '[\w.]*?(\w+)'|"
    r"\b(\w+)\(\) (?:takes|missing|got)\b"
)


def names_of_gold(patch: str, issue: str) -> frozenset[str]:
    """The words that a patch adds and neither its other lines nor the issue hold.

    A function whose header the patch changes counts as added: its signature is gold's.
    """
    added, other = set[str](), set[str]()
    headers = set[str]()
    for line in patch.split("\n"):
        if line.startswith(("+++", "---", "diff ", "index ", "@@")):
            continue
        (added if line.startswith("+") else other).update(_WORD.findall(line[1:]))
        if match := re.match(r"\+\s*(?:async\s+)?def\s+(\w+)", line):
            headers.add(match[1])
    return frozenset((added - other | headers) - set(_WORD.findall(issue)))


def asks_for(message: str, names: frozenset[str]) -> str:
    """The name among `names` that a failure message says is not there, or ""."""
    for match in _LACKS.finditer(message):
        for name in match.groups():
            if name in names:
                return name
    return ""
