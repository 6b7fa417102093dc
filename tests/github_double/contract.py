"""Recorded exchanges against GitHub's OpenAPI description (npm package @octokit/openapi), when it is there.

UTBOOST_OPENAPI names `generated/api.github.com.json` of that package, UTBOOST_WEBHOOKS the file
`api.github.com/index.json` of @octokit/webhooks-examples; `tests/fetch_openapi.sh` fetches both.
"""

from __future__ import annotations

import functools
import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema

from tests.github_double.state import Exchange

# GitHub sends null for a fork that was deleted, though its description does not say so
_NULL_ALL_THE_SAME = frozenset({"head/repo", "head/user"})


def missing_openapi() -> str | None:
    """Why exchanges cannot be checked here, or None."""
    return _missing("UTBOOST_OPENAPI")


def missing_webhooks() -> str | None:
    """Why there are no example events here, or None."""
    return _missing("UTBOOST_WEBHOOKS")


def webhook_examples() -> dict[str, list[dict[str, Any]]]:
    """Event name -> example payloads."""
    listed = json.loads(Path(os.environ["UTBOOST_WEBHOOKS"]).read_text(encoding="utf-8"))
    return {event["name"]: event["examples"] for event in listed}


class Contract:
    """The description, with `nullable` put into the words of JSON Schema."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = _without_nullable(document)
        self._paths = [
            (re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path) + r"\Z"), path) for path in document["paths"]
        ]
        self._paths.sort(key=lambda item: item[1].count("{"))

    @classmethod
    @functools.lru_cache(maxsize=1)
    def load(cls) -> Contract:
        return cls(json.loads(Path(os.environ["UTBOOST_OPENAPI"]).read_text(encoding="utf-8")))

    def problems(self, exchange: Exchange) -> list[str]:
        """What is wrong with one exchange; GraphQL and injected faults have no description."""
        if exchange.path == "/graphql" or exchange.injected:
            return []
        name = f"{exchange.method} {exchange.path}"
        template = self._template(exchange)
        if template is None:
            return [f"{name}: no such operation"]
        operation = self._document["paths"][template][exchange.method.lower()]
        found = self._query_problems(exchange, template, operation)
        body = self._resolved(operation.get("requestBody", {})).get("content", {}).get("application/json", {})
        if body:
            found += self._schema_problems("request", exchange.request, body["schema"])
        elif exchange.request is not None:
            found.append("request: a body where none is described")
        if exchange.status == 401:
            return [f"{name}: {problem}" for problem in found]
        response = operation["responses"].get(str(exchange.status))
        if response is None and exchange.status != 403:
            found.append(f"response: status {exchange.status} is not described")
        elif response is not None:
            content = self._resolved(response).get("content", {}).get("application/json", {})
            if content:
                found += self._schema_problems("response", exchange.response, content["schema"])
        return [f"{name}: {problem}" for problem in found]

    def _template(self, exchange: Exchange) -> str | None:
        for pattern, path in self._paths:
            if pattern.match(exchange.path) and exchange.method.lower() in self._document["paths"][path]:
                return path
        return None

    def _query_problems(self, exchange: Exchange, template: str, operation: dict[str, Any]) -> list[str]:
        listed = [*operation.get("parameters", []), *self._document["paths"][template].get("parameters", [])]
        parameters = [self._resolved(parameter) for parameter in listed]
        known = {
            parameter["name"]: parameter["schema"] for parameter in parameters if parameter["in"] == "query"
        }
        found = []
        for name, text in exchange.query.items():
            if name not in known:
                found.append(f"request: query parameter {name} is not described")
                continue
            value: Any = int(text) if known[name].get("type") == "integer" and text.isdigit() else text
            found += self._schema_problems(f"request: query {name}", value, known[name])
        return found

    def _schema_problems(self, what: str, value: Any, schema: dict[str, Any]) -> list[str]:
        whole = {**schema, "components": self._document["components"]}
        checker = jsonschema.Draft202012Validator(whole)
        found = []
        for error in checker.iter_errors(value):
            place = "/".join(map(str, error.absolute_path))
            of_one = re.sub(r"\A\d+/", "", place)  # also where it is listed
            if not (error.instance is None and of_one in _NULL_ALL_THE_SAME):
                found.append(f"{what}: {place}: {error.message[:200]}")
        return found

    def _resolved(self, value: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in value:
            found: Any = self._document
            for part in value["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            value = found
        return value


def _missing(name: str) -> str | None:
    path = os.environ.get(name, "")
    if not path:
        return f"{name} is not set (tests/fetch_openapi.sh)"
    return None if Path(path).is_file() else f"{name}={path} is no file"


def _without_nullable(value: Any) -> Any:
    """OpenAPI 3.0's `nullable: true` as JSON Schema says it."""
    if isinstance(value, list):
        return [_without_nullable(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: _without_nullable(item) for key, item in value.items()}
    if result.pop("nullable", None) is True and not isinstance(value.get("nullable"), dict):
        if "enum" in result and None not in result["enum"]:
            result["enum"] = [*result["enum"], None]
        if isinstance(result.get("type"), str):
            result["type"] = [result["type"], "null"]
        else:
            return {"anyOf": [result, {"type": "null"}]}
    return result
