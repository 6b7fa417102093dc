"""Edits applied to the repository's files: exact, one match each, imports added where they are missing."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from utboost_action.generation.blocks import Edit, WrittenReply
from utboost_action.generation.gates import Gate, RejectedError
from utboost_action.generation.paths import editable_test_path, known_path, new_test_path
from utboost_action.generation.repository import RepositoryView
from utboost_action.generation.syntax import UnusableSourceError, last_line, lines_of, parse
from utboost_action.generation.tree import is_test_path


@dataclass(frozen=True, slots=True)
class EditedFiles:
    """The result of a reply's edits: path -> new text, for changed files and for new ones."""

    changed: Mapping[str, str]
    new: Mapping[str, str]


def apply_reply(reply: WrittenReply, view: RepositoryView, official: Collection[str]) -> EditedFiles:
    """Apply all edits of a reply, in order, or none of them.

    official: the paths of the official test patch, whose files may be edited whatever their names.
    Raises RejectedError: a path that is not allowed, a search text with no match or several, an import
    line that is no import.
    """
    changed: dict[str, str] = {}
    new: dict[str, str] = {}
    for edit in reply.edits:
        if edit.path in new:
            new[edit.path] = replaced_once(new[edit.path], edit)
        elif not edit.search.strip() and edit.path not in view.paths:
            new[new_test_path(edit.path, _test_folders(view, official))] = edit.replace
        else:
            path = editable_test_path(known_path(edit.path, view.paths), official)
            if path not in view.files:
                raise RejectedError(Gate.FORBIDDEN_FILE, f"{path} is unusable: {view.unusable[path]}")
            changed[path] = replaced_once(changed.get(path, view.files[path]), edit)
    for path, statements in reply.imports.items():
        target = new if path in new else changed
        if path not in target:
            raise RejectedError(
                Gate.MALFORMED_EDIT, f"an IMPORT line for {path[:100]!a}, which is not edited"
            )
        target[path] = with_imports(target[path], statements)
    return EditedFiles(changed, new)


def replaced_once(text: str, edit: Edit) -> str:
    """The text with the one occurrence of the edit's whole lines replaced.

    Blank lines around the search text are not part of the match. Raises RejectedError
    (SEARCH_NOT_FOUND, SEARCH_AMBIGUOUS).
    """
    searched = edit.search.strip("\n").split("\n")
    if not edit.search.strip():
        raise RejectedError(Gate.SEARCH_AMBIGUOUS, f"an empty SEARCH in {edit.path}, which exists")
    lines = lines_of(text)
    size = len(searched)
    found = [n for n in range(len(lines) - size + 1) if lines[n : n + size] == searched]
    if len(found) != 1:
        gate = Gate.SEARCH_AMBIGUOUS if found else Gate.SEARCH_NOT_FOUND
        raise RejectedError(gate, f"{len(found)} matches in {edit.path} of {searched[0].strip()[:100]!a}")
    before, after = lines[: found[0]], lines[found[0] + size :]
    return "".join(f"{line}\n" for line in [*before, *lines_of(edit.replace.strip("\n") + "\n"), *after])


def with_imports(text: str, statements: Collection[str]) -> str:
    """The text with those import statements that it lacks, behind the last import above its definitions.

    Raises RejectedError (MALFORMED_EDIT for what is no single import, UNPARSABLE for the text).
    """
    try:
        tree = parse(text)
    except UnusableSourceError as problem:
        raise RejectedError(Gate.UNPARSABLE, str(problem)) from None
    present = {bound for node in tree.body for bound in _bindings(node)}
    missing: list[str] = []
    for statement in statements:
        try:
            body = parse(statement).body
        except UnusableSourceError:
            body = []
        if len(body) != 1 or not isinstance(body[0], ast.Import | ast.ImportFrom):
            raise RejectedError(Gate.MALFORMED_EDIT, f"no import: {statement[:100]!a}")
        if not set(_bindings(body[0])) <= present:
            missing.append(ast.unparse(body[0]))
    if not missing:
        return text
    place = _import_line(tree)
    lines = lines_of(text)
    return "".join(f"{line}\n" for line in [*lines[:place], *dict.fromkeys(missing), *lines[place:]])


def _bindings(node: ast.stmt) -> list[tuple[str, str]]:
    """(what is imported, the name it gets) of an import statement."""
    if isinstance(node, ast.Import):
        return [(alias.name, alias.asname or alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        source = "." * node.level + (node.module or "")
        return [(f"{source}:{alias.name}", alias.asname or alias.name) for alias in node.names]
    return []


def _import_line(tree: ast.Module) -> int:
    """The number of lines before the place of a further import: behind the last one above all definitions."""
    place = 0
    for number, node in enumerate(tree.body):
        is_docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
            place = last_line(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
    return place


def _test_folders(view: RepositoryView, official: Collection[str]) -> frozenset[str]:
    tests = [path for path in (*view.paths, *official) if is_test_path(path)]
    return frozenset(path.rpartition("/")[0] or "." for path in tests)
