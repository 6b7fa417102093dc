"""Typed reading of an event's JSON, and the checks of what a stranger may write into it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from utboost_action.errors import InputError

Payload = Mapping[str, object]

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}__[A-Za-z0-9_.-]{1,100}-[0-9]{1,10}")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_MAX_PATH = 1_000


def value(payload: Payload, *keys: str) -> object:
    """What stands below the keys; None where one of them is missing or null."""
    found: object = payload
    for key in keys:
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found


def text(payload: Payload, *keys: str) -> str:
    """A text that must be there. Raises InputError that names the place."""
    found = value(payload, *keys)
    if not isinstance(found, str) or not found:
        raise _broken(keys, "a text")
    return found


def optional_text(payload: Payload, *keys: str) -> str:
    """A text, or "" where there is none."""
    found = value(payload, *keys)
    return found if isinstance(found, str) else ""


def number(payload: Payload, *keys: str) -> int:
    """A positive whole number. Raises InputError that names the place."""
    found = value(payload, *keys)
    if not isinstance(found, int) or isinstance(found, bool) or found <= 0:
        raise _broken(keys, "a positive number")
    return found


def sha(payload: Payload, *keys: str) -> str:
    """A full commit id. Raises InputError that names the place."""
    found = text(payload, *keys)
    if not is_sha(found):
        raise _broken(keys, "a commit id of 40 hexadecimal digits")
    return found


def repository(payload: Payload, *keys: str) -> str:
    """A repository's name, `owner/name`. Raises InputError that names the place."""
    found = text(payload, *keys)
    if not is_repository(found):
        raise _broken(keys, "owner/name")
    return found


def is_sha(candidate: str) -> bool:
    """Whether this is a full commit id (SHA-1 or SHA-256, lower case)."""
    return _SHA.fullmatch(candidate) is not None


def is_instance_id(candidate: str) -> bool:
    """Whether this has the form `owner__repo-number`."""
    return _INSTANCE.fullmatch(candidate) is not None


def is_repository(candidate: str) -> bool:
    """Whether this has the form `owner/name`."""
    return _REPOSITORY.fullmatch(candidate) is not None and not {".", ".."} & set(candidate.split("/"))


def is_plain_path(path: str) -> bool:
    """Whether a path is relative, printable and stays below its root; nothing of git's own folder."""
    if not path or len(path) > _MAX_PATH or not path.isprintable() or "\\" in path:
        return False
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        return False
    parts = raw.split(b"/")
    return all(
        part and part not in (b".", b"..") and len(part) <= 255 and not _is_git_folder(part) for part in parts
    )


def _is_git_folder(part: bytes) -> bool:
    name = part.lower().rstrip(b". ").partition(b":")[0]
    return name in (b".git", b"git~1")


def _broken(keys: tuple[str, ...], expected: str) -> InputError:
    return InputError(
        f"event payload: {'.'.join(keys)} is not {expected}; is GITHUB_EVENT_PATH this event's?"
    )
