"""Builders of small submissions; every test makes its own tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from utboost_action.model import Instance

GOLD = """diff --git a/pkg/core.py b/pkg/core.py
--- a/pkg/core.py
+++ b/pkg/core.py
@@ -1,3 +1,4 @@
 import os
+import sys
 x = 1
 y = 2
"""
TEST_PATCH = """diff --git a/tests/test_core.py b/tests/test_core.py
--- a/tests/test_core.py
+++ b/tests/test_core.py
@@ -1 +1,2 @@
 import os
+assert True
"""


def patch_of(path: str = "pkg/core.py", added: str = "z = 3") -> str:
    """A sound patch that adds one line to a file."""
    headers = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return f"{headers}@@ -1,2 +1,3 @@\n import os\n+{added}\n y = 2\n"


def instance(instance_id: str, patch: str = GOLD) -> Instance:
    """A benchmark row with the fields that the intake looks at."""
    return Instance(instance_id, "org/repo", "c0ffee", patch, TEST_PATCH, ("t1",), ("t2",))


def instances(*ids: str) -> dict[str, Instance]:
    """Rows by id."""
    return {instance_id: instance(instance_id) for instance_id in ids}


class Builder:
    """Writes a submission, one artefact at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)

    def put(self, path: str, content: str | bytes) -> Builder:
        """Write one file."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(
            content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        )
        return self

    def predictions(self, patches: Mapping[str, object], name: str = "all_preds.jsonl") -> Builder:
        """One jsonl row an id."""
        return self.put(name, "".join(row(key, value) for key, value in patches.items()))

    def metadata(self, text: str = "name: agent\nsite: https://example.org\n") -> Builder:
        """metadata.yaml."""
        return self.put("metadata.yaml", text)

    def results(self, resolved: list[str], **lists: object) -> Builder:
        """results/results.json of three lists, or with those given."""
        value = {"no_generation": [], "no_logs": [], "resolved": resolved, **lists}
        return self.put("results/results.json", json.dumps(value))

    def log(
        self,
        instance_id: str,
        *,
        patch: str | None = None,
        resolved: bool = True,
        applied: bool = True,
        text: str = "",
    ) -> Builder:
        """logs/<id>/ as the container harness writes it."""
        report = {instance_id: {"patch_successfully_applied": applied, "resolved": resolved}}
        self.put(f"logs/{instance_id}/report.json", json.dumps(report))
        self.put(f"logs/{instance_id}/test_output.txt", text or log_text())
        if patch is not None:
            self.put(f"logs/{instance_id}/patch.diff", patch)
        return self


def row(instance_id: object, patch: object, **more: object) -> str:
    """One line of a jsonl file."""
    value = {"instance_id": instance_id, "model_name_or_path": "m", "model_patch": patch, **more}
    return json.dumps(value) + "\n"


def log_text(body: str = "1 passed in 0.01s", exit_code: int | None = None, markers: bool = True) -> str:
    """A test_output.txt of G2 (no markers), G4 or G5 (with an exit code)."""
    body = f"============ {body} ============\n"
    if not markers:
        return f"+ git apply -v -\n+ pytest\n{body}"
    text = f"+ : '>>>>> Start Test Output'\n+ pytest\n{body}+ : '>>>>> End Test Output'\n"
    return (
        text
        if exit_code is None
        else text + f"+ echo '>>>>> Test Exit Code: {exit_code}'\n>>>>> Test Exit Code: {exit_code}\n"
    )
