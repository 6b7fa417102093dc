"""The writing prompt: windows of the chosen places with what an author needs around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from utboost_action.generation import prompting, skeletons
from utboost_action.generation.asking import Message
from utboost_action.generation.localisation import Location, Window
from utboost_action.generation.mentioned import Documented
from utboost_action.generation.prompting import Prefix
from utboost_action.generation.repository import RepositoryView, syntax_of
from utboost_action.generation.syntax import Function, first_line, last_line, lines_of
from utboost_action.generation.tokens import Fitted, first_fitting

_LONGEST_EXCERPT = 80  # lines; a longer window is shown as several, cut between statements


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """Lines of a file, and the class they stand in."""

    path: str
    first: int
    last: int
    around: str
    text: str


def writing_prompt(
    prefix: Prefix,
    location: Location,
    view: RepositoryView,
    documented: Sequence[Documented],
    *,
    budget: int,
    differential: bool,
) -> tuple[tuple[Message, ...], Fitted]:
    """The messages that ask for tests, in the fullest version within `budget` tokens beyond the prefix.

    Its excerpts are the windows, then set-up and helper methods of the classes that the windows are in.
    Left out step by step: the documented code, from the last; the names that a file defines; excerpts
    from the last; at the end all imports but those of the first file. The prompt says what is left out.
    Raises PromptTooLargeError.
    """
    excerpts = [part for window in location.windows for part in _excerpts(window, view)]
    excerpts += _helpers(location.windows, view)
    versions = _versions(prefix, location, view, documented, excerpts, differential)
    task = first_fitting(versions, budget)
    return prompting.messages(prefix, task.text), task


def _versions(
    prefix: Prefix,
    location: Location,
    view: RepositoryView,
    documented: Sequence[Documented],
    excerpts: Sequence[_Excerpt],
    differential: bool,
) -> Iterator[str]:
    counts = [(count, True, len(excerpts)) for count in range(len(documented), -1, -1)]
    counts += [(0, False, count) for count in range(len(excerpts), -1, -1)]
    for code, with_names, count in counts:
        shown = _joined(excerpts[:count], view)
        paths = dict.fromkeys([*(one.path for one in shown), *location.files[: 1 if not shown else 0]])
        files = [
            {
                "path": path,
                "names": _names(view, path) if with_names else "",
                "imports": skeletons.imports_of(view.files[path]),
                "excerpts": [one for one in shown if one.path == path],
            }
            for path in paths
            if syntax_of(view, path) is not None
        ]
        yield prompting.render(
            "write.j2",
            prefix,
            files=files,
            documented=documented[:code],
            undocumented=len(documented) - code,
            unshown=len(excerpts) - count,
            python=".".join(view.python.split(".")[:2]),
            differential=differential,
        )


def _names(view: RepositoryView, path: str) -> str:
    """The helpers, fixtures and classes of a file that a new test may use: no test functions."""
    tree = syntax_of(view, path)
    found = []
    for node in tree.body if tree else []:
        if isinstance(node, ast.ClassDef):
            found.append(skeletons.class_header(node))
        elif isinstance(node, Function) and not node.name.startswith("test"):
            found.append(f"def {node.name}({ast.unparse(node.args)})")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.append(node.targets[0].id)
    return "; ".join(found)


def _excerpts(window: Window, view: RepositoryView) -> Iterator[_Excerpt]:
    """A window as excerpts of at most some 80 lines, cut where a statement of a body ends.

    Lines of imports alone are none: the imports of each file are shown anyway.
    """
    lines = lines_of(view.files[window.path])
    borders = [end for end in _statement_ends(view, window.path) if window.first <= end < window.last]
    first = window.first
    while first <= window.last:
        last = window.last
        if last - first >= _LONGEST_EXCERPT:
            near = [end for end in borders if first <= end < first + _LONGEST_EXCERPT]
            far = [end for end in borders if end >= first + _LONGEST_EXCERPT]
            last = max(near) if near else min(far, default=last)
        text = "\n".join(lines[first - 1 : last]).strip("\n")
        if text.strip() and not _imports_alone(view, window.path, first, last):
            yield _Excerpt(window.path, first, last, _class_around(view, window.path, first), text)
        first = last + 1


def _helpers(windows: Sequence[Window], view: RepositoryView) -> list[_Excerpt]:
    """The methods that are no tests of the classes around the windows, where no window shows them."""
    found: list[_Excerpt] = []
    for path in dict.fromkeys(window.path for window in windows):
        shown = {
            line for window in windows if window.path == path for line in range(window.first, window.last + 1)
        }
        tree = syntax_of(view, path)
        lines = lines_of(view.files[path])
        for node in tree.body if tree else []:
            if not isinstance(node, ast.ClassDef) or shown.isdisjoint(
                range(node.lineno, last_line(node) + 1)
            ):
                continue
            around = skeletons.class_header(node).rstrip(":")
            for child in node.body:
                first, last = first_line(child), last_line(child)
                inside = shown.issuperset(range(first, last + 1))
                if isinstance(child, Function) and not child.name.startswith("test") and not inside:
                    text = "\n".join(lines[first - 1 : last])
                    found.append(_Excerpt(path, first, last, around, text))
    return found


def _joined(excerpts: Sequence[_Excerpt], view: RepositoryView) -> list[_Excerpt]:
    """The excerpts in the order of their files' lines, those that follow each other as one."""
    result: list[_Excerpt] = []
    for one in sorted(excerpts, key=lambda one: (one.path, one.first)):
        before = result[-1] if result else None
        if before and before.path == one.path and before.last + 1 == one.first:
            lines = lines_of(view.files[one.path])[before.first - 1 : one.last]
            result[-1] = replace(before, last=one.last, text="\n".join(lines).strip("\n"))
        else:
            result.append(one)
    return result


def _imports_alone(view: RepositoryView, path: str, first: int, last: int) -> bool:
    """Whether these lines hold statements of the module, and all of them import."""
    tree = syntax_of(view, path)
    within = [
        node for node in (tree.body if tree else []) if node.lineno <= last and first <= last_line(node)
    ]
    return bool(within) and all(isinstance(node, ast.Import | ast.ImportFrom) for node in within)


def _statement_ends(view: RepositoryView, path: str) -> list[int]:
    """The last lines of the module's statements and of those in its classes."""
    tree = syntax_of(view, path)
    ends = []
    for node in tree.body if tree else []:
        ends.append(last_line(node))
        if isinstance(node, ast.ClassDef):
            ends += [last_line(child) for child in node.body]
    return sorted(ends)


def _class_around(view: RepositoryView, path: str, line: int) -> str:
    tree = syntax_of(view, path)
    for node in tree.body if tree else []:
        if isinstance(node, ast.ClassDef) and first_line(node) < line <= last_line(node):
            return skeletons.class_header(node).rstrip(":")
    return ""
