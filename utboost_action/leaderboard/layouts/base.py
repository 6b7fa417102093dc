"""What a layout is: a name, how to tell it, and where its files lie."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from utboost_action.leaderboard.tree import SubmissionTree

_ID_AT_START = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*?__[A-Za-z0-9_.-]+?-\d+(?=[._-]|$)")


@dataclass(frozen=True, slots=True)
class Artefacts:
    """The files of a submission by instance id (paths inside the tree).

    logs: test output. run_logs: run_instance.log. patches: the patch that was evaluated.
    verdicts: what a result file for each instance says of `resolved`; metrics: how many metric files.
    trajs: instance id -> file or folder; name_form: how the logs are named, for people.
    """

    logs: Mapping[str, str] = field(default_factory=dict)
    run_logs: Mapping[str, str] = field(default_factory=dict)
    reports: Mapping[str, str] = field(default_factory=dict)
    patches: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, bool] = field(default_factory=dict)
    verdict_form: str = ""
    metrics: int = 0
    trajs: Mapping[str, str] = field(default_factory=dict)
    traj_suffixes: Mapping[str, int] = field(default_factory=dict)
    name_form: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to lay a submission out.

    name: what a report calls it (`experiments` is refined to G0..G5 by the logs' content).
    matches: whether the tree, seen from the submission's folder, has this layout.
    collect: where its files are; `known` are the ids met in predictions and benchmark, which tell an
    id from the rest of a file name.
    """

    name: str
    matches: Callable[[SubmissionTree], bool]
    collect: Callable[[SubmissionTree, Collection[str]], Artefacts]


def id_in_name(name: str, known: Collection[str]) -> str:
    """The instance id that a file or folder name starts with; the part before the first dot when unsure."""
    end = len(name)
    while end > 0:
        if name[:end] in known:
            return name[:end]
        end = max(name.rfind(".", 0, end), name.rfind("_", 0, end))
    if match := _ID_AT_START.match(name):
        return match.group()
    return name.partition(".")[0]


def trajectories(tree: SubmissionTree, known: Collection[str]) -> tuple[dict[str, str], dict[str, int]]:
    """(instance id -> file or folder below trajs/, how often each suffix occurs; `folder` for folders)."""
    found: dict[str, str] = {}
    suffixes: dict[str, int] = {}
    for folder in ("trajs", "trajectories"):
        for path in tree.below(folder):
            name, slash, _ = path.partition("/")
            instance_id = id_in_name(name, known)
            if slash and instance_id in found:
                continue
            suffix = "folder" if slash else (name[name.rfind(".") :] if "." in name else "")
            suffixes[suffix] = suffixes.get(suffix, 0) + 1
            found.setdefault(instance_id, f"{folder}/{name}")
    return found, suffixes
