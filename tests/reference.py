"""The official harness as a reference: only its parsers and its grader, without what it depends on.

`swebench.harness` imports docker, modal and datasets as a package; its parsers and grader need none of
them. So the package is registered as an empty shell with its path, and the modules load below it.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = "5.0.2"


@dataclass(frozen=True, slots=True)
class Reference:
    """Functions of swebench 5.0.2, under their own names."""

    parsers: dict[str, Callable[[str, Any], dict[str, str]]]
    get_logs_eval: Callable[[Any, str], tuple[dict[str, str], bool]]
    get_eval_report: Callable[..., dict[str, Any]]
    get_eval_tests_report: Callable[..., dict[str, dict[str, list[str]]]]
    get_resolution_status: Callable[[dict[str, Any]], str]
    eval_type: type
    test_spec: type

    def spec(
        self,
        parser: str,
        fail_to_pass: tuple[str, ...] = (),
        pass_to_pass: tuple[str, ...] = (),
        *,
        fail_only: bool = False,
    ) -> Any:
        """The harness's own description of an instance, as far as grading looks at it."""
        return self.test_spec(
            instance_id="example__example-1",
            image="",
            eval_script_list=[],
            repo="example/example",
            version="1",
            FAIL_TO_PASS=list(fail_to_pass),
            PASS_TO_PASS=list(pass_to_pass),
            log_parser=parser,
            eval_type="fail_only" if fail_only else "pass_and_fail",
        )


def missing_reference() -> str | None:
    """Why the reference cannot be used here, or None."""
    try:
        found = importlib.metadata.version("swebench")
    except importlib.metadata.PackageNotFoundError:
        return "swebench is not installed (requirements-reference.txt, with --no-deps)"
    return None if found == VERSION else f"swebench {found} is installed; the reference is {VERSION}"


def load_reference() -> Reference:
    """Import what the tests need of swebench; raises ImportError when it is missing."""
    if "swebench.harness" not in sys.modules:
        package = importlib.util.find_spec("swebench")
        if package is None or not package.submodule_search_locations:
            raise ImportError("swebench is not installed")
        shell = types.ModuleType("swebench.harness")
        shell.__path__ = [str(Path(package.submodule_search_locations[0]) / "harness")]
        sys.modules["swebench.harness"] = shell
    parsers = importlib.import_module("swebench.harness.log_parsers")
    grading = importlib.import_module("swebench.harness.grading")
    constants = importlib.import_module("swebench.harness.constants")
    values = importlib.import_module("swebench.types")
    return Reference(
        parsers=parsers.PARSER_REGISTRY,
        get_logs_eval=grading.get_logs_eval,
        get_eval_report=grading.get_eval_report,
        get_eval_tests_report=grading.get_eval_tests_report,
        get_resolution_status=grading.get_resolution_status,
        eval_type=constants.EvalType,
        test_spec=values.TestSpec,
    )
