"""Code that the issue speaks of, as its base documents it: what a test may rely on."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from utboost_action.generation import skeletons
from utboost_action.generation.repository import RepositoryView, syntax_of
from utboost_action.generation.syntax import Function
from utboost_action.generation.tree import is_test_path

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
_DEFINED = re.compile(r"^(?:class |[ \t]*(?:async )?def )?([A-Za-z_]\w{3,})(?=[\s(:=])", re.MULTILINE)
_MOST_PLACES = 2  # a name defined in more files says little
_LONGEST_VALUE = 200  # characters of an assignment
_LONGEST_DOCSTRING = 24  # lines; a longer one is left out whole


@dataclass(frozen=True, slots=True)
class Documented:
    """A definition outside the tests: its header with its docstring, a method in its class."""

    path: str
    text: str


def mentioned_in(issue: str, tests: str, view: RepositoryView, most: int) -> tuple[Documented, ...]:
    """At most `most` definitions whose names the issue uses like code.

    Those that the official tests (`tests`, their lines) name as well come first, then those used most.
    A function without a docstring says nothing that the tests do not show, and is left out.
    """
    tested = set(_WORD.findall(tests))
    words = Counter(word for word in _WORD.findall(issue) if _is_code(word, issue))
    places: dict[str, list[str]] = {}
    for path, source in view.files.items():
        if not is_test_path(path):
            for name in words.keys() & set(_DEFINED.findall(source)):
                places.setdefault(name, []).append(path)
    found: list[Documented] = []
    for name, _count in sorted(words.items(), key=lambda item: (item[0] not in tested, -item[1], item[0])):
        for path in (
            places.get(name, ())[: _MOST_PLACES + 1] if len(places.get(name, ())) <= _MOST_PLACES else ()
        ):
            found += [Documented(path, text) for text in _texts(view, path, name)]
        if len(found) >= most:
            break
    return tuple(found[:most])


def _is_code(word: str, issue: str) -> bool:
    inner_capital = any(char.isupper() for char in word[1:]) and not word.isupper()
    return "_" in word or inner_capital or f"{word}(" in issue or f"`{word}`" in issue or f".{word}" in issue


def _texts(view: RepositoryView, path: str, name: str) -> Iterator[str]:
    tree = syntax_of(view, path)
    for node in tree.body if tree else []:
        if (isinstance(node, Function) and node.name == name and ast.get_docstring(node)) or (
            isinstance(node, ast.ClassDef) and node.name == name
        ):
            yield _header_text(node)
        elif isinstance(node, ast.ClassDef):
            for child in node.body:
                if isinstance(child, Function) and child.name == name and ast.get_docstring(child):
                    yield "\n".join(
                        [skeletons.class_header(node), *_indented(_header_text(child).split("\n"))]
                    )
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            text = ast.unparse(node)
            if len(text) <= _LONGEST_VALUE:
                yield text


def _header_text(node: Function | ast.ClassDef) -> str:
    docstring = ast.get_docstring(node) or ""
    if docstring.count("\n") >= _LONGEST_DOCSTRING:
        docstring = docstring.split("\n\n")[0]
    tail: list[str] = []
    if isinstance(node, ast.ClassDef):
        header = skeletons.class_header(node)
        methods = [child for child in node.body if isinstance(child, Function)]
        tail = [skeletons.signature(child) for child in methods if child.name in ("__init__", "__new__")]
        if public := [child.name for child in methods if not child.name.startswith("_")]:
            tail.append(f"# methods: {', '.join(public)}")
    else:
        header = skeletons.signature(node)
    body = [*(f'"""{docstring}"""'.split("\n") if docstring else ()), *tail]
    return "\n".join([header, *_indented(body)])


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}".rstrip() for line in lines]
