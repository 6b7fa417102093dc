"""The sticky comment: one for each key, found again by a marker that only counts in comments of our own.

The marker is the body's first line. Authorship is GitHub's `viewerDidAuthor`, which holds for the
workflow's token, an app and a person's token alike; a marker in a stranger's comment means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from github.IssueComment import IssueComment

from utboost_action.errors import InputError
from utboost_action.github.client import Api
from utboost_action.github.levels import COMMENT_BYTES, largest_that_fits
from utboost_action.github.problems import GitHubError, Obstacle, doing

SCHEMA = 1
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_NODES = 100  # GraphQL looks up at most so many nodes at once
_AUTHORED = """query Authored($ids: [ID!]!) {
  nodes(ids: $ids) { ... on IssueComment { id viewerDidAuthor isMinimized } }
}"""
_MINIMIZE = """mutation Minimize($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } }
}"""
_PASSING = (Obstacle.SERVER_FAULT, Obstacle.UNREACHABLE)


class CommentState(StrEnum):
    """What happened to the comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class PostedComment:
    """The comment as it stands now.

    level: which of the given texts it holds, None for the fixed line. minimized: how many spare ones
    were folded away; not_minimized: why some could not be ("" when all could).
    """

    state: CommentState
    url: str
    level: int | None
    minimized: int = 0
    not_minimized: str = ""


def marker(key: str) -> str:
    """The first line of the comment of this key (lower-case letters, digits, `-`). Raises InputError."""
    if not _KEY.fullmatch(key):
        raise InputError(f"comment key {key!r}: expected lower-case letters, digits and -, for example audit")
    return f"<!-- utboost-action comment:{SCHEMA} key:{key} -->"


def post_comment(api: Api, repository: str, number: int, key: str, levels: Sequence[str]) -> PostedComment:
    """Create the comment or bring it up to date; spare ones of ours are minimised as outdated.

    levels: ready Markdown from most to least detail; the first that fits is taken. Nothing is sent when
    the newest one holds that text already. Raises GitHubError; its obstacle is LOCKED for a locked
    conversation and MISSING_PERMISSION for a read-only token.
    """
    first_line = marker(key)
    fitted = largest_that_fits(levels, COMMENT_BYTES - len(first_line) - 1)
    body = f"{first_line}\n{fitted.text}"
    ours = _own_comments(api, repository, number, first_line)
    newest = ours[-1].comment if ours else None
    if newest is not None and _same(newest.body, body):
        state, url = CommentState.UNCHANGED, newest.html_url
    elif newest is not None and (updated := _update(newest, number, body)):
        state, url = CommentState.UPDATED, updated
    else:
        state, url = CommentState.CREATED, _create(api, repository, number, first_line, body)
    minimized, problem = _minimize(api, ours[:-1])
    return PostedComment(state, url, fitted.level, minimized, problem)


@dataclass(frozen=True, slots=True)
class _Own:
    comment: IssueComment
    minimized: bool


def _own_comments(api: Api, repository: str, number: int, first_line: str) -> list[_Own]:
    """Our comments with this marker on all pages, oldest first."""
    with doing(f"list the comments of #{number}"):
        issue = api.repository(repository).get_issue(number)
        marked = [comment for comment in issue.get_comments() if _is_marked(comment.body, first_line)]
    by_node = {comment.node_id: comment for comment in marked}
    found: list[_Own] = []
    ids = list(by_node)
    for start in range(0, len(ids), _NODES):
        variables = {"ids": ids[start : start + _NODES]}
        nodes = api.graphql(_AUTHORED, variables, f"read who wrote the comments of #{number}").get("nodes")
        found += [
            _Own(by_node[str(node["id"])], node.get("isMinimized") is True)
            for node in (nodes if isinstance(nodes, list) else [])
            if isinstance(node, dict) and node.get("viewerDidAuthor") is True and node.get("id") in by_node
        ]
    return sorted(found, key=lambda own: own.comment.id)


def _update(comment: IssueComment, number: int, body: str) -> str:
    """The comment's address; "" when it was deleted meanwhile."""
    try:
        with doing(f"update the comment on #{number}"):
            comment.edit(body)
            return comment.html_url
    except GitHubError as problem:
        if problem.obstacle is Obstacle.NOT_FOUND:
            return ""
        raise


def _create(api: Api, repository: str, number: int, first_line: str, body: str) -> str:
    """Post once: after a fault, look whether the comment is there before posting again."""
    for attempt in range(api.patience.attempts):
        try:
            with doing(f"post the comment on #{number}"):
                return api.repository(repository).get_issue(number).create_comment(body).html_url
        except GitHubError as problem:
            if problem.obstacle not in _PASSING or attempt == api.patience.attempts - 1:
                raise
            api.patience.wait(2.0**attempt, str(problem).partition(";")[0])
            for own in _own_comments(api, repository, number, first_line):
                if _same(own.comment.body, body):
                    return own.comment.html_url
    raise GitHubError(Obstacle.SERVER_FAULT, f"could not post the comment on #{number}")


def _minimize(api: Api, spare: Sequence[_Own]) -> tuple[int, str]:
    done, problem = 0, ""
    for own in spare:
        if own.minimized:
            continue
        try:
            api.graphql(_MINIMIZE, {"id": own.comment.node_id}, "minimise an outdated comment")
            done += 1
        except GitHubError as refused:
            problem = str(refused)
    return done, problem


def _is_marked(body: str | None, first_line: str) -> bool:
    return (body or "").replace("\r\n", "\n").partition("\n")[0].rstrip() == first_line


def _same(stored: str | None, body: str) -> bool:
    return (stored or "").replace("\r\n", "\n").rstrip() == body.rstrip()
