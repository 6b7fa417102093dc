"""Everything that was read of a submission, before and after it is held against itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from utboost_action.leaderboard.layouts import Artefacts
from utboost_action.leaderboard.log_facts import LogFacts
from utboost_action.leaderboard.metadata import FigureClaim, Metadata
from utboost_action.leaderboard.patch_classes import PatchForm
from utboost_action.leaderboard.prediction_files import PredictionFile, PredictionRow
from utboost_action.leaderboard.results import InstanceReport, Results
from utboost_action.leaderboard.tree import SubmissionTree
from utboost_action.model import Instance, PredictionClass
from utboost_action.patches import touched_paths

MAX_PATCH_CHARACTERS = 24_000_000
_HUGE_LINE = re.compile(r"[^\n]{200000}")
_NO_PATCH = frozenset({PredictionClass.EMPTY, PredictionClass.MISSING_KEY})


@dataclass(frozen=True)
class Material:
    """The parts of one submission.

    rows and forms run in parallel, in the order of the file. instances: the split's rows, or None when
    no benchmark was given; benchmark_split: the name of that benchmark. other_splits: split name -> ids,
    to name where an unknown id belongs.
    """

    tree: SubmissionTree
    layout: str
    split: str | None
    benchmark_split: str | None
    file: PredictionFile
    forms: tuple[PatchForm, ...]
    metadata: Metadata
    readme: tuple[FigureClaim, ...]
    results: tuple[Results, ...]
    artefacts: Artefacts
    logs: Mapping[str, LogFacts]
    reports: Mapping[str, InstanceReport]
    instances: Mapping[str, Instance] | None = None
    other_splits: Mapping[str, Collection[str]] = field(default_factory=dict)
    has_run_json: bool = False

    @property
    def rows(self) -> tuple[PredictionRow, ...]:
        """The rows of the predictions file."""
        return self.file.rows

    @cached_property
    def last(self) -> dict[str, int]:
        """Instance id -> the number of the row that counts (the last), in the order of first mention."""
        found: dict[str, int] = {}
        for number, row in enumerate(self.rows):
            if row.instance_id is not None:
                found[row.instance_id] = number
        return found

    @cached_property
    def with_patch(self) -> frozenset[str]:
        """The ids whose prediction that counts holds any text."""
        return frozenset(
            instance_id
            for instance_id, number in self.last.items()
            if self.forms[number].kind not in _NO_PATCH
        )

    @cached_property
    def touched(self) -> dict[str, tuple[str, ...]]:
        """Instance id -> the paths that its patch touches.

        Ids are left out when the patches before come to more than MAX_PATCH_CHARACTERS, or when a line of
        the patch is longer than any path could be.
        """
        found: dict[str, tuple[str, ...]] = {}
        budget = MAX_PATCH_CHARACTERS
        for key, number in self.last.items():
            text = self.forms[number].text
            budget -= len(text)
            if budget >= 0 and _HUGE_LINE.search(text) is None:
                found[key] = touched_paths(text)
        return found

    @cached_property
    def unknown(self) -> frozenset[str]:
        """Predicted ids that are not in the split (none without a benchmark, or of a board not its own)."""
        if self.instances is None or self.of_other_benchmark:
            return frozenset()
        return frozenset(self.last.keys() - self.instances.keys())

    @cached_property
    def of_other_benchmark(self) -> bool:
        """Whether this is another board's layout and not one id is in the benchmark given."""
        own = self.layout in ("polybench", "multi-swe", "nocode")
        return own and self.instances is not None and not (self.last.keys() & self.instances.keys())

    @property
    def held_against(self) -> Mapping[str, Instance] | None:
        """The split's instances where the ids can be held against them."""
        return None if self.of_other_benchmark else self.instances

    @cached_property
    def row_verdicts(self) -> dict[str, bool]:
        """Verdicts kept in result files of each instance or in the rows themselves."""
        kept = dict(self.artefacts.verdicts)
        for row in self.rows:
            if row.instance_id is not None and row.resolved is not None and self.layout == "nocode":
                kept[row.instance_id] = row.resolved
        return kept

    @property
    def main_results(self) -> Results | None:
        """The results file that lists resolved ids, if there is one."""
        return next((results for results in self.results if results.resolved is not None), None)

    @property
    def external_logs(self) -> str:
        """Where the metadata says the logs are, when none are in the tree."""
        assets = self.metadata.assets or {}
        return "" if self.artefacts.logs else assets.get("logs", "")
