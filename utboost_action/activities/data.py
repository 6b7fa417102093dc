"""The data branch's layout: bank, durations, audits and badges, and who may write which of them.

    bank/<instance>.json                     tests with what people said of them
    durations.json                           instance -> seconds of its last audit
    audits/<folder>/report.json, tree        audits of the board's own submissions
    badges/<folder>.json, badges/board.json
    pulls/<number>/<folder>/report.json, badge.json, tree

What a pull request shows stays below its number until the board holds that very folder (the same tree
in git), so no pull request can replace what is said of another's submission.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from utboost_action.activities.step import Step
from utboost_action.benchmark.bank import Bank, read_bank, write_bank
from utboost_action.errors import InputError
from utboost_action.github.badges import badge_path
from utboost_action.github.client import Api
from utboost_action.github.data_branch import DataTree, Pushed, Writer, update_data_branch
from utboost_action.github.git import Git, Remote
from utboost_action.shards import Plan, read_durations
from utboost_action.storage import canonical_json

DURATIONS = "durations.json"
_BANK = "bank/"


def data_branch(step: Step, api: Api, repository: str, write: Writer, message: str) -> Pushed:
    """Write to the branch that the input `data-branch` names. Raises GitHubError."""
    folder = Path(tempfile.mkdtemp(prefix="data-", dir=step.scratch))
    connection = api.connection
    remote = Remote(connection.clone_url(repository), connection.token, connection.ca_bundle)
    git = Git(folder, remote, step.environ)
    return update_data_branch(git, step.settings.action.data_branch, write, message, patience=api.patience)


def stored(step: Step, api: Api, repository: str, wanted: Iterable[str] = ()) -> dict[str, bytes]:
    """Files of the data branch: the bank, the durations and the `wanted` ones. Empty without a branch."""
    found: dict[str, bytes] = {}
    if not step.settings.action.data_branch:
        return found

    def look(tree: DataTree) -> Mapping[str, bytes | None]:
        paths = [path for path in tree.ids if path.startswith(_BANK) or path == DURATIONS]
        found.update(tree.read([*paths, *wanted]))
        return {}

    data_branch(step, api, repository, look, "")
    return found


def stored_bank(files: Mapping[str, bytes]) -> Bank:
    """The bank among stored files. Raises InputError for one that cannot be read."""
    with tempfile.TemporaryDirectory() as name:
        for path, content in files.items():
            if path.startswith(_BANK) and path.count("/") == 1 and path.endswith(".json"):
                (Path(name) / path.removeprefix(_BANK)).write_bytes(content)
        return dict(read_bank(Path(name)))


def stored_durations(files: Mapping[str, bytes]) -> dict[str, float]:
    """Instance -> seconds among stored files; what is no number is left out."""
    return read_durations(files.get(DURATIONS, b"{}"))


def with_durations(tree: DataTree, seconds: Mapping[str, float]) -> dict[str, bytes | None]:
    """The durations with new ones, as a change of the branch."""
    if not seconds:
        return {}
    known = stored_durations(tree.read([DURATIONS]))
    merged = known | {name: round(value, 1) for name, value in seconds.items()}
    return {DURATIONS: canonical_json(merged).encode()}


def generated_tests(tree: DataTree, plan: Plan) -> dict[str, bytes | None]:
    """Bank files for the tests that this audit generated, of instances that the branch has none for."""
    found: dict[str, bytes | None] = {}
    new = [test for test in plan.tests if test.id in plan.generated]
    with tempfile.TemporaryDirectory() as folder:
        for file in write_bank(Path(folder), new, {}):
            if (path := f"{_BANK}{file.name}") not in tree.ids:
                found[path] = file.read_bytes()
    return found


def pull_paths(number: int, folder: str) -> tuple[str, str, str]:
    """Where report, badge and tree id of a pull request's submission lie."""
    root = f"pulls/{number}/{folder}"
    return f"{root}/report.json", f"{root}/badge.json", f"{root}/tree"


def board_paths(folder: str) -> tuple[str, str, str]:
    """Where report, badge and tree id of the board's own submission lie."""
    return f"audits/{folder}/report.json", badge_path(folder), f"audits/{folder}/tree"


def required_branch(step: Step, what: str) -> None:
    """Raises InputError when no data branch is configured, though `what` needs one."""
    if not step.settings.action.data_branch:
        raise InputError(f"input data-branch: {what} needs one to write to; for example utboost-data")
