"""The REST routes and the two GraphQL operations of the double: pure of HTTP, over the state."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.github_double.shapes import WHEN, Shapes
from tests.github_double.state import Comment, Identity, Repository

MAX_BODY = 65_536
MAX_PAGE = 100
MAX_LISTED_FILES = 3_000
MAX_COMPARED_FILES = 300


@dataclass(frozen=True)
class Request:
    """One request to the API; path is below its address."""

    method: str
    path: str
    query: Mapping[str, str]
    value: Any
    identity: Identity


@dataclass(frozen=True)
class Reply:
    """A status and what goes with it. pages: how many pages there are in all, for the Link header."""

    status: int
    value: Any
    pages: int = 1
    needs: str = ""


class Refused(Exception):  # noqa: N818
    """An error reply in GitHub's shape."""

    def __init__(
        self, status: int, message: str, *, needs: str = "", errors: list[Any] | None = None
    ) -> None:
        value: dict[str, Any] = {"message": message, "documentation_url": "https://docs.github.com/rest"}
        if errors is None:
            value["status"] = str(status)
        else:
            value["errors"] = errors
        self.reply = Reply(status, value, needs=needs)


class Routes:
    """Answers requests; `repositories` and `shapes` are shared with the server."""

    def __init__(self, repositories: dict[str, Repository], shapes: Shapes) -> None:
        self.repositories = repositories
        self.shapes = shapes
        self.truncate_trees_above = 100_000
        self.graphql_limits = 0
        self._next_id = 1_000
        self._clock = datetime(2026, 1, 2, tzinfo=UTC)

    def answer(self, request: Request) -> Reply:
        try:
            for method, pattern, route in _ROUTES:
                if method == request.method and (match := pattern.fullmatch(request.path)):
                    repository = self.repositories.get(match["repo"])
                    if repository is None:
                        raise Refused(404, "Not Found")
                    return route(self, request, repository, match)
            raise Refused(404, "Not Found")
        except Refused as refused:
            return refused.reply

    def new_comment(self, home: Repository, number: int, login: str, kind: str, body: str) -> Comment:
        self._next_id += 1
        made = Comment(self._next_id, number, login, kind, body, self.now())
        home.comments[made.id] = made
        return made

    def now(self) -> str:
        self._clock += timedelta(minutes=1)
        return self._clock.strftime("%Y-%m-%dT%H:%M:%SZ")

    def pull(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        pull = home.pulls.get(int(match["number"]))
        if pull is None:
            raise Refused(404, "Not Found")
        fork = self.repositories.get(pull.head_repository or "")
        return Reply(200, self.shapes.pull(home, pull, fork, whole=True))

    def pulls(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        found = []
        for pull in sorted(home.pulls.values(), key=lambda pull: -pull.number):
            owner = (pull.head_repository or "ghost/").partition("/")[0]
            if request.query.get("state", "open") not in (pull.state, "all"):
                continue
            if request.query.get("head", f"{owner}:{pull.head_ref}") != f"{owner}:{pull.head_ref}":
                continue
            fork = self.repositories.get(pull.head_repository or "")
            found.append(self.shapes.pull(home, pull, fork, whole=False))
        return _page(request, found)

    def files(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        pull = home.pulls[int(match["number"])]
        base = home.git("merge-base", home.sha(f"refs/heads/{pull.base_ref}"), pull.head_sha).decode().strip()
        raw = home.git("diff-tree", "-r", "--no-renames", "--raw", "-z", "--no-abbrev", base, pull.head_sha)
        fields = raw.decode().split("\0")
        found = []
        for facts, path in zip(fields[0::2], fields[1::2], strict=False):
            old, new, letter = facts.split(" ")[2:5]
            url = f"{self.shapes.api}/repos/{home.full_name}/contents/{path}?ref={pull.head_sha}"
            html = f"{self.shapes.web}/{home.full_name}"
            found.append(
                {
                    "sha": old if letter == "D" else new,
                    "filename": path,
                    "status": {"A": "added", "D": "removed"}.get(letter, "modified"),
                    "additions": 1,
                    "deletions": 0,
                    "changes": 1,
                    "blob_url": f"{html}/blob/{pull.head_sha}/{path}",
                    "raw_url": f"{html}/raw/{pull.head_sha}/{path}",
                    "contents_url": url,
                }
            )
        return _page(request, found[:MAX_LISTED_FILES])

    def compare(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        base, _, head = match["range"].partition("...")
        common = home.git("merge-base", base, head).decode().strip()
        listed = home.git("rev-list", "--reverse", f"{base}..{head}").decode().split()
        size, page = int(request.query.get("per_page", "250")), int(request.query.get("page", "1"))
        url = f"{self.shapes.api}/repos/{home.full_name}/compare/{match['range']}"
        html = f"{self.shapes.web}/{home.full_name}/compare/{match['range']}"
        value = {
            "url": url,
            "html_url": html,
            "permalink_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "base_commit": self.shapes.commit(home, base),
            "merge_base_commit": self.shapes.commit(home, common),
            "status": "ahead" if common == base else "diverged",
            "ahead_by": len(listed),
            "behind_by": 0,
            "total_commits": len(listed),
            "commits": [self.shapes.commit(home, sha) for sha in listed[(page - 1) * size : page * size]],
        }
        if page == 1:
            value["files"] = []
        return Reply(200, value)

    def tree(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        recursive = ["-r", "-t"] if "recursive" in request.query else []
        try:
            raw = home.git("ls-tree", "-z", "-l", *recursive, match["sha"])
            sha = home.sha(f"{match['sha']}^{{tree}}")
        except RuntimeError:
            raise Refused(404, "Not Found") from None
        found = []
        for line in raw.decode("utf-8", "surrogateescape").split("\0"):
            facts, tab, path = line.partition("\t")
            if not tab:
                continue
            mode, kind, object_id, size = facts.split()
            place = {"tree": "trees", "blob": "blobs"}.get(kind, "commits")
            entry = {
                "path": path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
                "mode": mode,
                "type": kind,
                "sha": object_id,
                "url": f"{self.shapes.api}/repos/{home.full_name}/git/{place}/{object_id}",
            }
            if kind == "blob":
                entry["size"] = int(size)
            found.append(entry)
        truncated = bool(recursive) and len(found) > self.truncate_trees_above
        url = f"{self.shapes.api}/repos/{home.full_name}/git/trees/{sha}"
        kept = found[: self.truncate_trees_above] if truncated else found
        return Reply(200, {"sha": sha, "url": url, "truncated": truncated, "tree": kept})

    def blob(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        try:
            data = home.git("cat-file", "blob", match["sha"])
        except RuntimeError:
            raise Refused(404, "Not Found") from None
        return Reply(
            200,
            {
                "sha": match["sha"],
                "node_id": f"B_{match['sha'][:8]}",
                "size": len(data),
                "url": f"{self.shapes.api}/repos/{home.full_name}/git/blobs/{match['sha']}",
                "content": base64.encodebytes(data).decode(),
                "encoding": "base64",
            },
        )

    def comments(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        number = int(match["number"])
        found = [comment for comment in home.comments.values() if comment.number == number]
        return _page(request, [self.shapes.comment(home, comment) for comment in sorted(found, key=_id)])

    def create_comment(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        pull = home.pulls.get(int(match["number"]))
        if pull is None:
            raise Refused(404, "Not Found")
        _require(request, "pull_requests", "issues=write; pull_requests=write")
        if pull.locked:
            raise Refused(403, "Unable to create comment because issue is locked.")
        body = _body(request)
        made = self.new_comment(home, pull.number, request.identity.login, request.identity.kind, body)
        return Reply(201, self.shapes.comment(home, made))

    def update_comment(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        comment = home.comments.get(int(match["id"]))
        if comment is None:
            raise Refused(404, "Not Found")
        _require(request, "pull_requests", "issues=write; pull_requests=write")
        comment.body = _body(request)
        comment.edits += 1
        return Reply(200, self.shapes.comment(home, comment))

    def react(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        comment = home.comments.get(int(match["id"]))
        if comment is None:
            raise Refused(404, "Not Found")
        _require(request, "pull_requests", "issues=write; pull_requests=write")
        one = (request.identity.login, request.value["content"])
        known = one in comment.reactions
        if not known:
            comment.reactions.append(one)
        value = {
            "id": 1 + comment.reactions.index(one),
            "node_id": "REA_1",
            "user": self.shapes.user(request.identity.login, request.identity.kind),
            "content": one[1],
            "created_at": WHEN,
        }
        return Reply(200 if known else 201, value)

    def create_status(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        _require(request, "statuses", "statuses=write")
        description = request.value.get("description") or ""
        if not description.isascii() or len(description) > 140:
            raise Refused(422, "Validation Failed", errors=[{"code": "custom", "field": "description"}])
        listed = home.statuses.setdefault(match["sha"], [])
        value = {
            "url": f"{self.shapes.api}/repos/{home.full_name}/statuses/{match['sha']}",
            "avatar_url": None,
            "id": len(listed) + 1,
            "node_id": f"SC_{len(listed) + 1}",
            "state": request.value["state"],
            "description": description,
            "target_url": request.value.get("target_url"),
            "context": request.value.get("context", "default"),
            "created_at": WHEN,
            "updated_at": WHEN,
            "creator": self.shapes.user(request.identity.login, request.identity.kind),
        }
        listed.append(value)
        return Reply(201, value)

    def permission(self, request: Request, home: Repository, match: re.Match[str]) -> Reply:
        role = home.permissions.get(match["login"])
        if role is None:
            raise Refused(404, f"{match['login']} is not a user")
        level = {"maintain": "write", "triage": "read"}.get(role, role)
        user = {**self.shapes.user(match["login"]), "role_name": role}
        return Reply(200, {"permission": level, "role_name": role, "user": user})

    def graphql(self, request: Request) -> Reply:
        """`nodes(ids)` on issue comments, and `minimizeComment`; any other word is an error as GitHub's."""
        query, variables = request.value["query"], request.value.get("variables", {})
        if self.graphql_limits:
            self.graphql_limits -= 1
            return _graphql_error("RATE_LIMITED", "API rate limit exceeded")
        unknown = set(re.findall(r"[A-Za-z_]+", query)) - _GRAPHQL_WORDS
        if unknown:
            return _graphql_error("undefinedField", f"Field '{min(unknown)}' doesn't exist")
        by_node = {c.node_id: c for home in self.repositories.values() for c in home.comments.values()}
        if "minimizeComment" in query:
            comment = by_node.get(variables["id"])
            if comment is None:
                return _graphql_error("NOT_FOUND", "Could not resolve to a node with the global id")
            if "pull_requests" not in request.identity.may_write:
                return _graphql_error("FORBIDDEN", "Resource not accessible by integration")
            comment.minimized = True
            return Reply(200, {"data": {"minimizeComment": {"minimizedComment": {"isMinimized": True}}}})
        ids = variables["ids"]
        if len(ids) > MAX_PAGE:
            return _graphql_error("ARGUMENT_LIMIT", "You may not provide more than 100 node ids")
        nodes = [
            {
                "id": node,
                "viewerDidAuthor": by_node[node].login == request.identity.login,
                "isMinimized": by_node[node].minimized,
            }
            if node in by_node
            else None
            for node in ids
        ]
        return Reply(200, {"data": {"nodes": nodes}})


_GRAPHQL_WORDS = {
    *("query", "mutation", "Authored", "Minimize", "nodes", "on", "IssueComment", "id", "ids", "ID"),
    *("viewerDidAuthor", "isMinimized", "minimizeComment", "input", "subjectId", "classifier", "OUTDATED"),
    "minimizedComment",
}
_REPO = r"/repos/(?P<repo>[^/]+/[^/]+)"
Route = Callable[[Routes, Request, Repository, "re.Match[str]"], Reply]
_ROUTES: tuple[tuple[str, re.Pattern[str], Route], ...] = tuple(
    (method, re.compile(_REPO + pattern), route)
    for method, pattern, route in (
        ("GET", r"/pulls/(?P<number>\d+)", Routes.pull),
        ("GET", r"/pulls", Routes.pulls),
        ("GET", r"/pulls/(?P<number>\d+)/files", Routes.files),
        ("GET", r"/compare/(?P<range>.+)", Routes.compare),
        ("GET", r"/git/trees/(?P<sha>[^/]+)", Routes.tree),
        ("GET", r"/git/blobs/(?P<sha>[^/]+)", Routes.blob),
        ("GET", r"/issues/(?P<number>\d+)/comments", Routes.comments),
        ("POST", r"/issues/(?P<number>\d+)/comments", Routes.create_comment),
        ("PATCH", r"/issues/comments/(?P<id>\d+)", Routes.update_comment),
        ("POST", r"/issues/comments/(?P<id>\d+)/reactions", Routes.react),
        ("POST", r"/statuses/(?P<sha>[0-9a-f]{40})", Routes.create_status),
        ("GET", r"/collaborators/(?P<login>[^/]+)/permission", Routes.permission),
    )
)


def _id(comment: Comment) -> int:
    return comment.id


def _page(request: Request, values: list[Any]) -> Reply:
    size = min(int(request.query.get("per_page", "30")), MAX_PAGE)
    page = int(request.query.get("page", "1"))
    return Reply(200, values[(page - 1) * size : page * size], pages=max(1, -(-len(values) // size)))


def _require(request: Request, permission: str, accepted: str) -> None:
    if permission not in request.identity.may_write:
        raise Refused(403, "Resource not accessible by integration", needs=accepted)


def _body(request: Request) -> str:
    body: str = request.value["body"]
    if len(body.encode()) > MAX_BODY:
        errors = [
            {
                "resource": "IssueComment",
                "code": "unprocessable",
                "field": "data",
                "message": "Body is too long (maximum is 65536 characters)",
            }
        ]
        raise Refused(422, "Validation Failed", errors=errors)
    return body


def _graphql_error(kind: str, message: str) -> Reply:
    return Reply(200, {"data": None, "errors": [{"type": kind, "message": message, "path": []}]})
