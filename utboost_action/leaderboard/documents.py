"""JSON and YAML from strangers: bounded, and with every liberty of the two formats named.

JSON: NaN, Infinity and numbers beyond a double are no JSON; a key given twice is named; nesting is
bounded before anything is parsed. YAML: a node budget that aliases count against in full, no custom
tags, keys given twice named. Neither reader can be made to recurse without bound.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass

import yaml

from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.tree import SubmissionTree, TooLargeError, shown
from utboost_action.model import Finding

MAX_NESTING = 100
MAX_JSON_ITEMS = 2_000_000
MAX_YAML_NODES = 10_000

# a string that is never closed is taken to the end, so that the scan stays linear
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{]|[\]}]|,', re.DOTALL)
_YAML_TAG = "tag:yaml.org,2002:"
_YAML_KINDS = frozenset({"null", "bool", "int", "float", "str", "timestamp", "map", "seq", "merge", "value"})


class JsonObject(dict[str, object]):
    """A JSON object; `repeated` holds the earlier pairs of keys that were given more than once."""

    repeated: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """What was read, and what had to be said about it.

    value: None where the document was refused (then `findings` says why).
    """

    value: object
    findings: tuple[Finding, ...] = ()


class _NotANumber:
    """Stands where NaN, Infinity or a number beyond a double stood."""


NOT_A_NUMBER = _NotANumber()


def clean_text(text: str) -> str:
    """The text without lone surrogates (they become U+FFFD), so that it can be written as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def decode(data: bytes) -> tuple[str, bool]:
    """(text without byte order mark, was it all UTF-8); what is not becomes U+FFFD."""
    try:
        return data.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        return data.decode("utf-8-sig", "replace"), False


def parse_json(data: bytes, where: str, *, lenient: bool = False) -> Document:
    """One JSON document from UTF-8 bytes (a byte order mark is taken off).

    Strict, a document with a non-number or a repeated key is refused. Lenient (predictions), both are
    only named: repeated keys stay in `JsonObject.repeated`, non-numbers become `NOT_A_NUMBER`.
    """
    if (beyond := _beyond_bounds(data, where)) is not None:
        return Document(None, (beyond,))
    text, sound = decode(data)
    found = [] if sound else [_not_utf8(where)]
    constants: dict[str, None] = {}
    repeated: dict[str, None] = {}

    def constant(name: str) -> object:
        constants.setdefault(name)
        return NOT_A_NUMBER

    def real(digits: str) -> object:
        number = float(digits)
        return constant(digits[:40]) if math.isinf(number) else number

    def pairs(items: list[tuple[str, object]]) -> JsonObject:
        value = JsonObject(items)
        if len(value) < len(items):
            earlier: list[tuple[str, object]] = []
            left = Counter(key for key, _ in items)
            for key, item in items:
                left[key] -= 1
                if left[key]:
                    earlier.append((key, item))
                    repeated.setdefault(key)
            value.repeated = tuple(earlier)
        return value

    try:
        value = json.loads(text, parse_constant=constant, parse_float=real, object_pairs_hook=pairs)
    except json.JSONDecodeError as problem:
        detail = f"no valid JSON: {problem.msg} at line {problem.lineno} column {problem.colno}"
        found.append(finding(FindingKind.UNREADABLE_FILE, detail, where=where))
        return Document(None, tuple(found))
    except (ValueError, RecursionError) as problem:
        detail = f"no valid JSON: {str(problem).splitlines()[0]}"
        found.append(finding(FindingKind.UNREADABLE_FILE, detail, where=where))
        return Document(None, tuple(found))
    if constants:
        detail = f"{', '.join(constants)}: no number of JSON{'' if lenient else '; the file is refused'}"
        found.append(finding(FindingKind.NOT_A_JSON_NUMBER, detail, where=where))
    if repeated:
        names = ", ".join(shown(key) for key in list(repeated)[:10])
        end = "the last one counts" if lenient else "neither value is taken; the file is refused"
        found.append(finding(FindingKind.DUPLICATE_KEY, f"given more than once: {names}; {end}", where=where))
    refused = not lenient and (constants or repeated)
    return Document(None if refused else value, tuple(found))


def _beyond_bounds(data: bytes, where: str) -> Finding | None:
    depth, items = measure(data)
    if depth > MAX_NESTING:
        detail = f"nesting of {depth:,} levels, more than the {MAX_NESTING} allowed"
        return finding(FindingKind.NESTING_TOO_DEEP, detail, where=where)
    if items > MAX_JSON_ITEMS:
        detail = f"more than {MAX_JSON_ITEMS:,} items in one document"
        return finding(FindingKind.FILE_TOO_LARGE, detail, where=where)
    return None


def measure(data: bytes) -> tuple[int, int]:
    """(how deep brackets outside of strings nest, how many items there are), in one linear pass.

    The count stops as soon as either is beyond what is allowed.
    """
    depth = deepest = items = 0
    for match in _TOKEN.finditer(data):
        first = match.group()[:1]
        items += 1
        if first in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in b"]}":
            depth -= 1
        if items > MAX_JSON_ITEMS:
            break
    return deepest, items


def parse_yaml(data: bytes, where: str) -> Document:
    """One YAML document into dicts, lists, texts, numbers, booleans and None; dates stay texts.

    A key given twice is named and its last value taken, as PyYAML does.
    """
    text, sound = decode(data)
    found = [] if sound else [_not_utf8(where)]
    try:
        node = _BudgetLoader(text).get_single_node()
        reader = _YamlReader()
        value = reader.value(node) if node is not None else None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        at = f" at line {mark.line + 1}" if mark is not None else ""
        what = getattr(problem, "problem", None) or str(problem).splitlines()[0]
        found.append(
            finding(FindingKind.UNREADABLE_FILE, f"no valid YAML: {shown(str(what))}{at}", where=where)
        )
        return Document(None, tuple(found))
    except RecursionError:
        found.append(finding(FindingKind.NESTING_TOO_DEEP, "nested too deeply", where=where))
        return Document(None, tuple(found))
    except _RefusedError as problem:
        found.append(finding(FindingKind.YAML_REFUSED, f"{problem}; the file is refused", where=where))
        return Document(None, tuple(found))
    if reader.repeated:
        names = ", ".join(shown(key) for key in reader.repeated)
        detail = f"given more than once: {names}; the last one counts"
        found.append(finding(FindingKind.DUPLICATE_KEY, detail, where=where))
    return Document(value, tuple(found))


class _RefusedError(Exception):
    """A liberty of YAML that is not taken here."""


class _BudgetLoader(yaml.SafeLoader):
    """Composes at most MAX_YAML_NODES nodes."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.composed = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.composed += 1
        if self.composed > MAX_YAML_NODES:
            raise _RefusedError(f"more than {MAX_YAML_NODES:,} nodes")
        return super().compose_node(parent, index)


class _YamlReader:
    """Nodes into values; every visit counts, so an alias costs what it expands to."""

    def __init__(self) -> None:
        self.visited = 0
        self.repeated: dict[str, None] = {}
        self.names = yaml.constructor.SafeConstructor()

    def value(self, node: yaml.Node, depth: int = 0) -> object:
        self.visited += 1
        if self.visited > MAX_YAML_NODES:
            raise _RefusedError(f"aliases that expand to more than {MAX_YAML_NODES:,} nodes")
        if depth > MAX_NESTING:
            raise _RefusedError(f"nesting of more than {MAX_NESTING} levels")
        if node.tag.removeprefix(_YAML_TAG) not in _YAML_KINDS:
            raise _RefusedError(f"the custom tag {shown(node.tag)} at line {node.start_mark.line + 1}")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, object]:
        result: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise _RefusedError(f"a key that is no text at line {key_node.start_mark.line + 1}")
            key = str(key_node.value)
            if key in result:
                self.repeated.setdefault(key)
            result[key] = self.value(value_node, depth + 1)
        return result

    def _scalar(self, node: yaml.ScalarNode) -> object:
        kind = node.tag.removeprefix(_YAML_TAG)
        if kind == "null":
            return None
        construct = {
            "bool": self.names.construct_yaml_bool,
            "int": self.names.construct_yaml_int,
            "float": self.names.construct_yaml_float,
        }.get(kind)
        if construct is None:
            return clean_text(str(node.value))
        try:
            value: object = construct(node)
        except (ValueError, KeyError, OverflowError):
            return clean_text(str(node.value))
        finite = not isinstance(value, float) or math.isfinite(value)
        return value if finite else clean_text(str(node.value))


def read_json(tree: SubmissionTree, path: str, limit: int, *, lenient: bool = False) -> Document:
    """The JSON document at `path`; what cannot be opened or is beyond `limit` bytes becomes a finding."""
    data = read_bytes(tree, path, limit)
    return parse_json(data, path, lenient=lenient) if isinstance(data, bytes) else Document(None, (data,))


def read_yaml(tree: SubmissionTree, path: str, limit: int) -> Document:
    """The YAML document at `path`, likewise."""
    data = read_bytes(tree, path, limit)
    return parse_yaml(data, path) if isinstance(data, bytes) else Document(None, (data,))


def read_bytes(tree: SubmissionTree, path: str, limit: int) -> bytes | Finding:
    """The bytes at `path`, or the finding that says why not."""
    try:
        return tree.read(path, limit)
    except TooLargeError as problem:
        return finding(FindingKind.FILE_TOO_LARGE, str(problem), where=path)
    except OSError as problem:
        return finding(FindingKind.UNREADABLE_FILE, f"cannot be read: {problem.strerror}", where=path)


def _not_utf8(where: str) -> Finding:
    return finding(FindingKind.INVALID_UTF8, "bytes that are no UTF-8 were replaced", where=where)
