"""How like the gold patch a prediction is, and a submission as a whole against the board's known figures.

The board's own check compares changed hunks without comment lines: a mean of 6.7 % exact matches over the
submissions of Verified (0 to 13 %), and a question to the submitter above 20 %. Here a match is the whole
patch: the same changed lines in the same files and order, comments and blank lines left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.material import Material
from utboost_action.model import Finding
from utboost_action.patches import with_final_newline

BOARD_MEAN_PERCENT = 6.7
ALARM_PERCENT = 20.0
_FEWEST = 5
_FILE = re.compile(r"\+\+\+ (?:b/)?(\S+)")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*/|\*\s)")


@dataclass(frozen=True, slots=True)
class Similarity:
    """ratios: instance id -> share of changed lines in common (0 to 1; 1 only for the same lines in the
    same order). identical: the same text to the letter. matching: ids with ratio 1.
    """

    ratios: Mapping[str, float] = field(default_factory=dict)
    identical: frozenset[str] = frozenset()
    matching: frozenset[str] = frozenset()

    @property
    def percent(self) -> float:
        """The share of matching predictions among those compared, in percent."""
        return 100 * len(self.matching) / len(self.ratios) if self.ratios else 0.0


def compare_with_gold(material: Material) -> Similarity:
    """Hold every prediction of the split against its gold patch."""
    if material.held_against is None:
        return Similarity()
    ratios: dict[str, float] = {}
    identical, matching = set(), set()
    for instance_id, number in material.last.items():
        instance = material.held_against.get(instance_id)
        patch = material.forms[number].text
        if instance is None or not patch.strip():
            continue
        if with_final_newline(patch) == with_final_newline(instance.patch):
            identical.add(instance_id)
        ratios[instance_id] = likeness(patch, instance.patch)
        if ratios[instance_id] == 1.0:
            matching.add(instance_id)
    return Similarity(ratios, frozenset(identical), frozenset(matching))


def likeness(patch: str, gold: str) -> float:
    """The share of changed lines that two patches have in common, 1.0 only when also the order agrees."""
    ours, theirs = changed_lines(patch), changed_lines(gold)
    if not ours or not theirs:
        return 0.0
    if ours == theirs:
        return 1.0
    one, other = Counter(ours), Counter(theirs)
    common = sum((one & other).values())
    return min(common / sum((one | other).values()), 0.99)


def changed_lines(patch: str) -> tuple[tuple[str, str], ...]:
    """(file, sign and text) of every added or removed line that is neither comment nor blank."""
    name = ""
    lines = []
    for line in patch.splitlines():
        if match := _FILE.match(line):
            name = match.group(1)
        elif line.startswith(("+", "-")) and not line.startswith(("--- ", "+++ ")):
            text = line[1:].strip()
            if text and not _COMMENT.match(text):
                lines.append((name, line[0] + text))
    return tuple(lines)


def similarity_findings(similarity: Similarity) -> list[Finding]:
    """What the likeness says about single predictions and about the whole."""
    found = []
    if similarity.identical:
        share = f"{len(similarity.identical)} of {len(similarity.ratios)}"
        detail = f"{share} predictions are the gold patch to the letter"
        found.append(finding(FindingKind.IDENTICAL_TO_GOLD, detail, tuple(similarity.identical)))
    if len(similarity.ratios) >= _FEWEST and similarity.percent > ALARM_PERCENT:
        detail = (
            f"{similarity.percent:.1f} % of the predictions make the gold patch's changes line by line; "
            f"the board's mean is {BOARD_MEAN_PERCENT} %, a question is asked above {ALARM_PERCENT:.0f} %"
        )
        found.append(finding(FindingKind.GOLD_SIMILARITY, detail, tuple(similarity.matching)))
    return found
