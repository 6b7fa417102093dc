"""Benchmark rows with the bank's tests in them, for the official harness to run as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from utboost_action.benchmark.bank import Bank
from utboost_action.benchmark.rows import Row, test_names
from utboost_action.errors import InputError
from utboost_action.eval_script import parse_eval_script
from utboost_action.model import AugmentedTest, BankStatus, Opinion, TestMode
from utboost_action.patches import created_paths, touched_paths, with_final_newline

_ADDED_DEFINITION = re.compile(r"^[+ ]\s*(?:async\s+)?def (\w+)\(")
_DOCSTRING = re.compile(r'^[+ ]\s*[rRuU]?(?:"""|\'\'\'|"|\')(.*)$')


def augmented_rows(rows: Iterable[Row], bank: Bank) -> list[dict[str, object]]:
    """The rows of the instances that the bank has a test for, each strengthened by its `best_of`.

    test_patch, FAIL_TO_PASS, PASS_TO_PASS and eval_script change; all other columns stay.
    Raises InputError for a row without eval_script.
    """
    chosen = ((row, best_of(bank.get(str(row.get("instance_id")), ()))) for row in rows)
    return [_augmented(row, test) for row, test in chosen if test is not None]


def best_of(tests: Sequence[AugmentedTest]) -> AugmentedTest | None:
    """The test for a row, which takes one patch: confirmed before candidate, whole patch before added test.

    What people retired or doubt is never taken. Among equals the first.
    """
    usable = [test for test in tests if test.status is not BankStatus.RETIRED and not _is_doubted(test)]
    return max(
        usable,
        key=lambda test: (test.status is BankStatus.CONFIRMED, test.mode is TestMode.REPLACES),
        default=None,
    )


def _is_doubted(test: AugmentedTest) -> bool:
    """Whether people's last word on the whole entry is a doubt."""
    words = [decision.opinion for decision in test.signals.decisions if not decision.test]
    return bool(words) and words[-1] is Opinion.DISPUTE


def _augmented(row: Row, test: AugmentedTest) -> dict[str, object]:
    script_text, official_patch = row.get("eval_script"), str(row.get("test_patch", ""))
    if not isinstance(script_text, str) or not script_text:
        raise InputError(f"row {test.instance_id}: it lacks eval_script, which the official harness runs")
    on_top = test.mode is TestMode.EXTENDS
    patch = with_final_newline(official_patch) + test.patch if on_top else test.patch
    script = parse_eval_script(script_text)
    known = set(touched_paths(official_patch)) | set(created_paths(patch))
    new_paths = tuple(path for path in touched_paths(patch) if path not in known)
    fail_to_pass, pass_to_pass = _lists(row, test, patch)
    changed: Mapping[str, object] = {
        "test_patch": patch,
        "FAIL_TO_PASS": json.dumps(fail_to_pass),
        "PASS_TO_PASS": json.dumps(pass_to_pass),
        "eval_script": script.official_text(
            patch, script.new_directives(str(row.get("repo")), patch), new_paths
        ),
    }
    return {**row, **changed}


def _lists(row: Row, test: AugmentedTest, patch: str) -> tuple[list[str], list[str]]:
    """FAIL_TO_PASS and PASS_TO_PASS of the strengthened row.

    Where the experiments recorded what the official reading shows of the whole suite, those lists count:
    they hold existing tests that the patch made stricter, and leave out what gold does not show or pass
    (the suite runs every test file of the row, so nothing else is listed). Otherwise they are the row's
    lists and the targets.
    """
    measured = test.signals
    if measured.fail_to_pass or measured.pass_to_pass:
        return list(measured.fail_to_pass), list(measured.pass_to_pass)
    names = _official_names(test.targets, patch, str(row.get("log_parser") or row.get("repo")))
    fail_to_pass = list(dict.fromkeys([*test_names(row, "FAIL_TO_PASS"), *names]))
    return fail_to_pass, [name for name in test_names(row, "PASS_TO_PASS") if name not in fail_to_pass]


def _official_names(targets: Sequence[str], patch: str, parser: str) -> list[str]:
    """Targets as the official parser prints them: a django test with a docstring goes by its first line."""
    if "django" not in parser:
        return list(targets)
    docstrings = _docstrings(patch)
    return [docstrings.get(target.split(" (")[0], target) for target in targets]


def _docstrings(patch: str) -> dict[str, str]:
    """Function name -> first docstring line, for the functions whose first lines the patch shows."""
    found: dict[str, str] = {}
    lines = patch.split("\n")
    for number, line in enumerate(lines[:-1]):
        definition = _ADDED_DEFINITION.match(line)
        opened = _DOCSTRING.match(lines[number + 1]) if definition else None
        if definition and opened:
            text = opened.group(1).strip()
            if not text and number + 2 < len(lines):  # unittest strips the docstring before it splits it
                text = lines[number + 2][1:].strip()
            found[definition.group(1)] = re.sub(r'("""|\'\'\'|"|\')$', "", text).strip()
    return found
