"""Read any submission as data: from a path to a `Submission` with everything there is to say about it.

Layout, predictions, metadata, results, logs and reports are read once (`take_in`); then the parts are
held against each other. Every unreadable thing becomes a finding. InputError is raised only for a path
that does not exist or holds no submission.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from utboost_action.errors import InputError
from utboost_action.leaderboard.claims import claim_findings, headline, listed_resolved
from utboost_action.leaderboard.crosscheck import artefact_findings
from utboost_action.leaderboard.git_tree import is_git_directory, read_git_tree
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.layouts import Artefacts, layout_of
from utboost_action.leaderboard.layouts.nocode import DETAILS
from utboost_action.leaderboard.log_facts import LogFacts, read_log_facts
from utboost_action.leaderboard.material import Material
from utboost_action.leaderboard.metadata import Metadata, read_metadata, read_readme_claims
from utboost_action.leaderboard.patch_classes import classify
from utboost_action.leaderboard.prediction_checks import lint_findings, prediction_findings
from utboost_action.leaderboard.prediction_files import (
    PredictionFile,
    PredictionRow,
    is_instance_id,
    prediction_files,
    read_prediction_file,
)
from utboost_action.leaderboard.results import InstanceReport, read_report, read_results
from utboost_action.leaderboard.similarity import Similarity, compare_with_gold, similarity_findings
from utboost_action.leaderboard.tree import SubmissionTree, list_tree, shown
from utboost_action.model import Claim, Finding, Instance, Prediction, Submission

SPLITS = (
    "lite",
    "verified",
    "test",
    "bash-only",
    "multimodal",
    "multilingual",
    "PB",
    "PB500",
    "PBVerified",
    "full",
)
_MARKS = frozenset({"metadata.yaml", "metadata.yml", "metadata.json", DETAILS})
_INNER_FOLDERS = frozenset({"logs", "results", "trajs"})
_WRONG_WORDS = frozenset({"evaluations", "submissions", "submission"})
_FOLDER_WORDS = frozenset(
    {"evaluation", "evaluations", "submissions", "submission", "results", "leaderboard"}
)


@dataclass(frozen=True)
class Intake:
    """A submission as values (`submission`) and all that was read of it (`material`)."""

    submission: Submission
    material: Material
    similarity: Similarity


def read_submission(
    path: Path,
    *,
    instances: Mapping[str, Instance] | None = None,
    split: str | None = None,
    other_splits: Mapping[str, Collection[str]] | None = None,
) -> Submission:
    """Read a submission: its folder, a folder with one submission somewhere below, or a predictions file.

    instances: the benchmark's rows, to hold ids and patches against; split: its name, used when the
    path does not say one; other_splits: split name -> ids, to name where an unknown id belongs.

    Raises InputError when the path does not exist, or holds no submission or several.
    """
    return take_in(path, instances=instances, split=split, other_splits=other_splits).submission


def take_in(
    path: Path,
    *,
    instances: Mapping[str, Instance] | None = None,
    split: str | None = None,
    other_splits: Mapping[str, Collection[str]] | None = None,
) -> Intake:
    """As `read_submission`, with the material kept (for `inspect`)."""
    tree = _tree_of(path)
    found = list(tree.findings)
    file, file_findings = _predictions(tree, only=path.name if path.is_file() else None)
    metadata = read_metadata(tree) if not path.is_file() else Metadata()
    readme, readme_findings = read_readme_claims(tree)
    layout = layout_of(tree)
    known = {row.instance_id for row in file.rows if row.instance_id is not None} | set(instances or ())
    artefacts = layout.collect(tree, known)
    results = read_results(tree)
    logs, log_findings = _logs(tree, artefacts)
    reports, report_findings = _reports(tree, artefacts)
    material = Material(
        tree=tree,
        layout=layout.name,
        split=_split_in(tree.root) or split,
        benchmark_split=split,
        file=file,
        forms=tuple(classify([(row.patch, row.has_patch) for row in file.rows])),
        metadata=metadata,
        readme=readme,
        results=results,
        artefacts=artefacts,
        logs=logs,
        reports=reports,
        instances=instances,
        other_splits={name: ids for name, ids in (other_splits or {}).items() if name != split},
        has_run_json=any(name == "run.json" or name.endswith("/run.json") for name in tree.files),
    )
    similarity = compare_with_gold(material)
    found += [*file_findings, *metadata.findings, *readme_findings, *log_findings, *report_findings]
    found += [item for one in results for item in one.findings]
    found += _folder_findings(tree.root)
    found += prediction_findings(material) + artefact_findings(material) + claim_findings(material)
    found += similarity_findings(similarity) + lint_findings(material)
    submission = Submission(
        name=path.stem if path.is_file() else tree.root.name,
        root=tree.root,
        generation=generation_of(material),
        split=material.split,
        predictions=_by_id(material),
        claim=Claim(
            listed_resolved(material).resolved, listed_resolved(material).where or headline(material).source
        ),
        logs={key: tree.root / relative for key, relative in artefacts.logs.items()},
        findings=tuple(dict.fromkeys(found)),
    )
    return Intake(submission, material, similarity)


def generation_of(material: Material) -> str:
    """G0 to G5, or the layout's name; by the logs' content, without logs by what else tells it."""
    if material.layout not in ("experiments", "conda", "preds-only"):
        return material.layout
    main = material.main_results
    by_repo = any(
        path.endswith(("resolved_by_repo.json", "resolved_by_time.json")) for path in material.tree.files
    )
    counted = Counter(facts.generation for facts in material.logs.values())
    if counted:
        generation = max(counted, key=lambda name: (counted[name], name))
        if generation == "G1" and main is None:
            return "G0"
        return "G3" if generation == "G2" and by_repo else generation
    if material.layout == "conda" or (main is not None and main.ten_lists):
        return "G1" if main is not None else "G0"
    if material.has_run_json:
        return "G5"
    if "logs" in (material.metadata.assets or {}):
        return "G4"
    if material.layout == "experiments":
        return "G3" if by_repo else "G2"
    return "preds-only"


def _tree_of(path: Path) -> SubmissionTree:
    """The listing seen from the submission's folder."""
    if path.is_symlink():
        raise InputError(f"submission {str(path)!r}: is a link; give what it points to")
    if path.is_file():
        absolute = path.absolute()
        return SubmissionTree(absolute.parent, {absolute.name: absolute.stat().st_size})
    if not path.is_dir():
        raise InputError(
            f"submission {str(path)!r}: no such file or folder; give a folder or a predictions file"
        )
    tree = read_git_tree(path) if is_git_directory(path) else list_tree(path.absolute())
    folders = _outermost(_marked_folders(tree))
    if len(folders) > 1:
        names = ", ".join(shown(folder) for folder in folders[:4]) + (", ..." if len(folders) > 4 else "")
        raise InputError(
            f"submission {str(path)!r}: holds {len(folders)} submissions ({names}); give the folder of one"
        )
    if not folders:
        raise InputError(
            f"submission {str(path)!r}: no predictions, metadata, results or logs in it; "
            "give the folder that holds all_preds.jsonl or preds.json"
        )
    return tree.subtree(folders[0])


def _marked_folders(tree: SubmissionTree) -> set[str]:
    """Folders that look like a submission's, by names; by content where no name tells."""
    found: set[str] = set()
    for path in tree.files:
        *parents, name = path.split("/")
        inner = next((number for number, part in enumerate(parents) if part in _INNER_FOLDERS), None)
        if inner is not None:
            found.add("/".join(parents[:inner]))
        elif name in _MARKS or (name.endswith((".json", ".jsonl")) and "pred" in name.lower()):
            found.add("/".join(parents))
    if found:
        return found
    parents_of_json = {path.rpartition("/")[0] for path in tree.files if path.endswith((".json", ".jsonl"))}
    return {folder for folder in parents_of_json if prediction_files(tree.subtree(folder))}


def _outermost(folders: set[str]) -> list[str]:
    """Those that lie in no other one, sorted."""
    if "" in folders:
        return [""]
    return sorted(
        folder
        for folder in folders
        if not any(parent.as_posix() in folders for parent in PurePosixPath(folder).parents)
    )


def _predictions(tree: SubmissionTree, only: str | None) -> tuple[PredictionFile, list[Finding]]:
    """The predictions that count, with invalid ids taken out of the rows, and what was said on the way.

    only: the file that was given by name, whatever it is called and holds.
    """
    found_files = [DETAILS] if DETAILS in tree.files else list(prediction_files(tree))
    paths = found_files if only is None else [only]
    files = [read_prediction_file(tree, path) for path in paths]
    if not files:
        return PredictionFile("", "", ()), []
    main = next((file for file in files if file.rows), files[0])
    found = [item for file in files for item in file.findings]
    rows: list[PredictionRow] = []
    invalid: dict[str, None] = {}
    nameless: list[PredictionRow] = []
    for row in main.rows:
        if row.instance_id is None:
            nameless.append(row)
        elif not is_instance_id(row.instance_id):
            invalid.setdefault(shown(row.instance_id))
            row = dataclasses.replace(row, instance_id=None)
        rows.append(row)
    if invalid:
        detail = "no form of an instance id (a plain name, no path); not used"
        found.append(finding(FindingKind.INVALID_ID, detail, tuple(invalid), main.path))
    if nameless:
        keys = ", ".join(shown(key) for key in nameless[0].keys[:10]) or "none"
        detail = f"{len(nameless)} row(s) without a text under instance_id (keys of the first: {keys})"
        found.append(finding(FindingKind.MISSING_INSTANCE_ID, detail, where=nameless[0].where))
    for other in files:
        if other is not main and other.rows and _texts(other) != _texts(main):
            detail = f"{other.path} and {main.path} do not hold the same predictions; {main.path} counts"
            found.append(finding(FindingKind.PREDICTION_FILES_DIFFER, detail, where=other.path))
    return PredictionFile(main.path, main.form, tuple(rows)), found


def _texts(file: PredictionFile) -> dict[str | None, object]:
    return {row.instance_id: row.patch or "" for row in file.rows}


def _logs(tree: SubmissionTree, artefacts: Artefacts) -> tuple[dict[str, LogFacts], list[Finding]]:
    facts: dict[str, LogFacts] = {}
    found = []
    for instance_id, path in artefacts.logs.items():
        read = read_log_facts(tree, path)
        if isinstance(read, LogFacts):
            facts[instance_id] = read
        else:
            found.append(finding(FindingKind.UNREADABLE_FILE, read, (instance_id,), path))
    return facts, found


def _reports(tree: SubmissionTree, artefacts: Artefacts) -> tuple[dict[str, InstanceReport], list[Finding]]:
    reports: dict[str, InstanceReport] = {}
    found: list[Finding] = []
    for instance_id, path in artefacts.reports.items():
        report, own = read_report(tree, path, instance_id)
        found += own
        if report is not None:
            reports[instance_id] = report
    return reports, found


def _by_id(material: Material) -> dict[str, Prediction]:
    return {
        instance_id: Prediction(
            instance_id=instance_id,
            patch=material.forms[number].text,
            kind=material.forms[number].kind,
            where=material.rows[number].where,
            model_name=material.rows[number].model_name,
            detail=material.forms[number].detail,
        )
        for instance_id, number in material.last.items()
    }


def _split_in(root: Path) -> str | None:
    """The split that the path names: `.../<split>/<folder>`, below evaluation/ or another such folder."""
    parts = root.parts
    if len(parts) >= 3 and parts[-2] in SPLITS and parts[-3].lower() in _FOLDER_WORDS:
        return parts[-2]
    if len(parts) >= 4 and parts[-2] in SPLITS and parts[-4].lower() == "evaluation":
        return parts[-2]
    return None


def _folder_findings(root: Path) -> list[Finding]:
    """A submission below some word of a leaderboard, but not at evaluation/<split>/<folder>."""
    parts = root.parts[-4:]
    words = [number for number, part in enumerate(parts[:-1]) if part.lower() in _WRONG_WORDS]
    if not words or "evaluation" in parts[:-1]:
        return []
    stands = "/".join(parts[words[-1] : -1])
    split = _split_in(root) or "<split>"
    detail = f"{shown(stands)}/... instead of evaluation/{split}/..."
    return [finding(FindingKind.WRONG_FOLDER, detail, where=shown("/".join(parts[words[-1] :])))]
