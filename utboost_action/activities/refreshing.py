"""The board's badges on the data branch, brought up to date: by night, and when the default branch moves.

What was audited in a pull request counts for the board once the board holds that very folder: the tree
that git names is the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from utboost_action.activities import texts
from utboost_action.activities.data import board_paths, data_branch, pull_paths, required_branch
from utboost_action.activities.step import Ending, Result, Step
from utboost_action.github.badges import badge_json, board_badge
from utboost_action.github.client import Api
from utboost_action.github.data_branch import DataTree
from utboost_action.github.events import RefreshBoard
from utboost_action.github.git import Git, Remote
from utboost_action.github.reading import ReadOptions, read_board
from utboost_action.github.summary import write_summary


def refresh(step: Step, api: Api, activity: RefreshBoard) -> Result:
    """Take over audits of merged pull requests, and write the board's badge. Raises GitHubError."""
    required_branch(step, "the board's badge")
    commit = activity.sha or step.commit
    trees = _folders(step, api, activity.repository, commit)
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
        return found

    data_branch(step, api, activity.repository, write, "Refresh the board")
    message = f"{counted[0]} of {len(trees)} submissions audited; {len(taken)} taken over from pull requests"
    step.say(message)
    if path := step.file("GITHUB_STEP_SUMMARY"):
        write_summary(path, texts.plain_levels("UTBoost: the board", (message,)))
    return Result(Ending.DONE, message, {"submissions": str(len(trees))})


def _folders(step: Step, api: Api, repository: str, commit: str) -> dict[str, str]:
    """The board's submissions and git's ids of their folders; no contents are fetched."""
    workspace = step.scratch / "board"
    options = ReadOptions(patterns=step.settings.action.submissions, names_only=lambda _path: True)
    found = read_board(api, repository, commit, workspace, step.environ, (), options)
    git = Git(workspace / "objects", Remote(api.connection.clone_url(repository)), step.environ)
    ids = {}
    for one in found:
        line = git.run("rev-parse", "--verify", f"{commit}:{one.folder}", offline=True)
        ids[one.folder] = line.decode().strip()
    return ids


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
