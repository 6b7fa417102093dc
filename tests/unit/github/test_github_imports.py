from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "utboost_action"
MAY_IMPORT = {"", "__version__", "model", "errors", "storage", "patches", "report", "github"}
ENTRIES = {"cli.py", "main.py"}


def imported(path: Path) -> set[str]:
    """The parts of utboost_action that a module imports ("" for the package itself)."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{name.name}" for name in node.names]
        found.update(name.split(".")[1] for name in names if name.startswith("utboost_action."))
    return found


def test_the_package_uses_values_only_and_no_stage() -> None:
    for path in (PACKAGE / "github").glob("*.py"):
        assert imported(path) <= MAY_IMPORT, path.name


def test_nothing_but_the_entries_uses_the_package() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "github" and path.name not in ENTRIES:
            assert "github" not in imported(path), path


def test_modules_hold_one_idea() -> None:
    for path in (PACKAGE / "github").glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 350, path.name
