"""A unified diff as data: which files it touches, and its normal form. Nothing here applies a patch."""

from __future__ import annotations

import re

_OLD_OR_NEW = re.compile(r"^(?:---|\+\+\+) (.*)$")
_GIT_HEADER = re.compile(r"^diff --git (.*)$")
_RENAME = re.compile(r"^(?:rename|copy) (?:from|to) (.*)$")
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


def with_final_newline(patch: str) -> str:
    """The patch with the newline that `git apply` insists on; an empty one stays empty."""
    return patch if not patch or patch.endswith("\n") else patch + "\n"


def normalised(patch: str) -> str:
    """The patch without what does not change its effect, so that equal patches run once.

    `index` lines, the text behind a hunk's second `@@` and blank lines at the end go; lines inside
    hunks and line ends (a CRLF patch applies elsewhere than an LF one) are kept to the letter.
    """
    kept: list[tuple[bool, str]] = []
    for is_header, line in _lines(patch):
        if is_header and line.startswith("index "):
            continue
        match = _HUNK.match(line) if is_header else None
        kept.append((is_header, match.group(0) if match else line))
    while kept and kept[-1][0] and not kept[-1][1].strip():
        kept.pop()
    return "".join(line + "\n" for _is_header, line in kept)


def touched_paths(patch: str) -> tuple[str, ...]:
    """Every path that the headers of a patch name, without `a/` and `b/`, in order, each once.

    Hunk bodies are skipped by the hunk's own counts, so a removed line that looks like a header
    (`--- x`) names nothing. Paths are as written: `..` and absolute ones included.
    """
    found: dict[str, None] = {}
    for is_header, line in _lines(patch):
        if not is_header:
            continue
        for path in _header_paths(line):
            if path and path != "/dev/null":
                found.setdefault(path)
    return tuple(found)


def created_paths(patch: str) -> tuple[str, ...]:
    """The paths that a patch creates (`--- /dev/null`), in order, each once."""
    found: dict[str, None] = {}
    old = ""
    for is_header, line in _lines(patch):
        if is_header and line.startswith("--- "):
            old = line[4:].split("\t")[0].strip()
        elif is_header and line.startswith("+++ ") and old == "/dev/null":
            found.setdefault(_header_paths(line)[0])
    return tuple(found)


def _header_paths(line: str) -> tuple[str, ...]:
    if match := _OLD_OR_NEW.match(line):
        return (_strip_prefix(_unquoted(match.group(1).split("\t")[0].rstrip())),)
    if match := _RENAME.match(line):
        return (_unquoted(match.group(1).rstrip()),)
    if match := _GIT_HEADER.match(line):
        return _git_header_paths(match.group(1).rstrip())
    return ()


def _git_header_paths(text: str) -> tuple[str, ...]:
    """Both paths of `diff --git`; unquoted names with spaces are split where the halves agree."""
    if text.startswith('"'):
        quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
        return tuple(_strip_prefix(_unescaped(part)) for part in quoted)
    middle = len(text) // 2
    if text[middle : middle + 1] == " " and _strip_prefix(text[:middle]) == _strip_prefix(text[middle + 1 :]):
        return (_strip_prefix(text[:middle]),)
    old, separator, new = text.partition(" b/")
    return (_strip_prefix(old), new) if separator else ()


def _lines(patch: str) -> list[tuple[bool, str]]:
    """(is it outside a hunk body, line without its end) for each line."""
    result: list[tuple[bool, str]] = []
    old = new = 0
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            result.append((False, line))
            if line.startswith("+"):
                new -= 1
            elif line.startswith("-"):
                old -= 1
            elif not line.startswith("\\"):
                old, new = old - 1, new - 1
            continue
        if match := _HUNK.match(line):
            old, new = (int(count) if count is not None else 1 for count in match.groups())
        result.append((not line.startswith("\\"), line))
    return result


def _strip_prefix(path: str) -> str:
    return path[2:] if path.startswith(("a/", "b/")) else path


def _unquoted(path: str) -> str:
    return _unescaped(path[1:-1]) if len(path) > 1 and path[0] == path[-1] == '"' else path


def _unescaped(text: str) -> str:
    """Git's C-style quoting undone; octal escapes are bytes of UTF-8."""

    def replace(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code, 8)) if code.isdigit() and len(code) == 3 else _ESCAPES.get(code, code)

    raw = _ESCAPE.sub(replace, text)
    try:
        return raw.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return raw
