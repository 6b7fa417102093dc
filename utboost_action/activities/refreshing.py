"""The board's badges and pages on the data branch: by night, and when the default branch moves.

What was audited in a pull request counts for the board once the board holds that very folder: the tree
that git names is the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from utboost_action import session
from utboost_action.activities import texts
from utboost_action.activities.data import board_paths, data_branch, pull_paths, required_branch
from utboost_action.activities.step import Ending, Result, Step
from utboost_action.board import build_board
from utboost_action.errors import InputError
from utboost_action.github.badges import badge_json, board_badge
from utboost_action.github.client import Api
from utboost_action.github.data_branch import DataTree
from utboost_action.github.events import RefreshBoard
from utboost_action.github.reading import ReadOptions, read_board
from utboost_action.github.summary import write_summary
from utboost_action.leaderboard.checkout import submission_folders
from utboost_action.report.board import board_document
from utboost_action.report.board_pages import board_html, board_markdown
from utboost_action.storage import canonical_json


def refresh(step: Step, api: Api, activity: RefreshBoard) -> Result:
    """Take over audits of merged pull requests, and write the board's badge and pages.

    The pages need the input `benchmark`, whose split they are of. Raises GitHubError, InputError.
    """
    required_branch(step, "the board's badge")
    commit = activity.sha or step.commit
    trees = _folders(step, api, activity.repository, commit)
    pages = _Pages.of(step) if step.settings.benchmark and trees else None
    taken: list[str] = []
    counted: list[int] = []

    def write(tree: DataTree) -> Mapping[str, bytes | None]:
        taken[:] = []
        found: dict[str, bytes | None] = {}
        for folder, (report, badge) in _merged(tree, trees).items():
            contents = tree.read([report, badge])
            values = (contents[report], contents[badge], f"{trees[folder]}\n".encode())
            found |= dict(zip(board_paths(folder), values, strict=True))
            taken.append(folder)
        counted[:] = [len(_current(tree, trees) | set(taken))]
        found["badges/board.json"] = badge_json(board_badge(counted[0], len(trees))).encode()
        if pages is not None:
            current = [board_paths(folder)[0] for folder in _current(tree, trees)]
            reports = tree.read(current) | {path: data for path, data in found.items() if data is not None}
            found |= pages.made_from(reports)
        return found

    data_branch(step, api, activity.repository, write, "Refresh the board")
    message = f"{counted[0]} of {len(trees)} submissions audited; {len(taken)} taken over from pull requests"
    if not step.settings.benchmark:
        message += "; no page: the input benchmark is empty"
    step.say(message)
    if path := step.file("GITHUB_STEP_SUMMARY"):
        write_summary(path, texts.plain_levels("UTBoost: the board", (message,)))
    return Result(Ending.DONE, message, {"submissions": str(len(trees))})


@dataclass(frozen=True, slots=True)
class _Pages:
    """What the board's pages are made of, beside the stored audits. checkout: the exported board."""

    checkout: Path
    scratch: Path
    benchmark: str
    instances: frozenset[str]
    split: str

    @classmethod
    def of(cls, step: Step) -> _Pages:
        checkout = step.scratch / "board" / "tree"
        rows, _ = session.read_rows_and_bank(step.settings)
        splits = {split for split, _folder in submission_folders(checkout) if split}
        split = rows.split if rows.split in splits else splits.pop() if len(splits) == 1 else ""
        if not split:
            raise InputError(
                f"input benchmark: {step.settings.benchmark} is of no split of the board "
                f"({', '.join(sorted(splits))}); the pages are of one split"
            )
        ids = frozenset(rows.instances) | frozenset(rows.unreadable)
        return cls(checkout, step.scratch, step.settings.benchmark, ids, split)

    def made_from(self, reports: Mapping[str, bytes]) -> dict[str, bytes | None]:
        """The pages' files on the data branch. reports: path on the data branch -> report.json."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            folder = Path(name)
            for path, content in reports.items():
                if path.startswith("audits/") and path.endswith("/report.json"):
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(content)
            board = build_board(self.checkout, folder, self.instances, self.benchmark, self.split)
        document = board_document(board)
        texts = {
            "json": canonical_json(document),
            "md": board_markdown(document),
            "html": board_html(document),
        }
        return {f"board/{self.split}/board.{kind}": text.encode() for kind, text in texts.items()}


def _not_claimed(path: str) -> bool:
    """Whether a submission's file says nothing of what it claims, so that its name is enough."""
    parts = path.split("/")
    said = parts[0] == "results" or parts[-1] in ("metadata.yaml", "metadata.yml", "README.md")
    return not (said or (parts[0] == "logs" and parts[-1] == "report.json"))


def _folders(step: Step, api: Api, repository: str, commit: str) -> dict[str, str]:
    """The board's submissions and git's ids of their folders; only what says a claim is fetched."""
    workspace = step.scratch / "board"
    options = ReadOptions(patterns=step.settings.action.submissions, names_only=_not_claimed)
    found = read_board(api, repository, commit, workspace, step.environ, (), options)
    return {one.folder: one.tree for one in found}


def _current(tree: DataTree, trees: Mapping[str, str]) -> set[str]:
    """The folders whose stored audit is of what the board holds now."""
    paths = {board_paths(folder)[2]: folder for folder in trees}
    stored = tree.read([path for path in paths if path in tree.ids])
    return {
        paths[path]
        for path, content in stored.items()
        if content.decode("ascii", "replace").strip() == trees[paths[path]]
    }


def _merged(tree: DataTree, trees: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """folder -> (report, badge) of the newest pull request whose folder is the board's, tree by tree."""
    places: dict[str, list[int]] = {}
    for path in tree.ids:
        parts = path.split("/")
        if parts[0] == "pulls" and parts[-1] == "tree" and len(parts) > 3 and parts[1].isdigit():
            places.setdefault("/".join(parts[2:-1]), []).append(int(parts[1]))
    current = _current(tree, trees)
    wanted = [
        (folder, number)
        for folder, numbers in places.items()
        if folder in trees and folder not in current
        for number in sorted(numbers)
    ]
    known = tree.read([pull_paths(number, folder)[2] for folder, number in wanted])
    found: dict[str, tuple[str, str]] = {}
    for folder, number in wanted:
        report, badge, tree_path = pull_paths(number, folder)
        same = known[tree_path].decode("ascii", "replace").strip() == trees[folder]
        if same and report in tree.ids and badge in tree.ids:
            found[folder] = (report, badge)
    return found
