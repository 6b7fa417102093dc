"""Arrows point one way (docs/architecture.md): this holds the picture to the imports."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "utboost_action"

VALUES = {"model", "errors", "patches", "storage", "eval_script", "typed_json"}
STAGES = {
    "leaderboard": {"leaderboard"},
    "benchmark": {"benchmark"},
    "logs": {"logs"},
    "grading": {"grading", "aliases", "bypasses", "disagreement"},
    "generation": {"generation"},
    "execution": {"execution"},
    "oracle": {"oracle"},
    "report": {"report"},
}
JOINS = {
    "audit",
    "replay",
    "regrade",
    "inspection",
    "generate",
    "settings",
    "session",
    "confirm",
    "board",
    "own_logs",
    "shards",
    "sharding",
    "exchange",
}
EDGES = {"github", "commands", "cli", "main", "activities", "__main__"}  # nothing but an edge imports an edge
EDGE_MAY_NOT = {  # an edge imports joins and stages, and of the edges what is not named here
    "commands": {"github", "cli", "main", "activities"},
    "cli": {"github", "main", "activities"},
}


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _imports() -> list[tuple[str, str, str]]:
    """(file, part it belongs to, part it imports) for every import inside the package."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        relative = file.relative_to(PACKAGE)
        part = relative.parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{relative}: imports are absolute"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [node.module or ""] if (node.module or "").count(".") else names
            found += [(str(relative), part, _part(n)) for n in names if n.startswith("utboost_action")]
    return found


def _stage_of(part: str) -> set[str] | None:
    return next((members for members in STAGES.values() if part in members), None)


def test_every_module_has_a_place():
    parts = {
        p.name.removesuffix(".py") for p in PACKAGE.iterdir() if p.name not in ("__pycache__", "py.typed")
    }
    known = VALUES | JOINS | EDGES | {"__init__"} | set().union(*STAGES.values())
    assert parts <= known, f"without a place in the architecture: {sorted(parts - known)}"


def test_arrows_point_one_way():
    wrong = []
    for file, part, imported in _imports():
        if imported in VALUES or imported in ("", "__version__") or imported == part:
            continue
        stage = _stage_of(part)
        if stage is not None:
            allowed = stage
        elif part in VALUES:
            allowed = set()
        elif part in JOINS:
            allowed = JOINS | set().union(*STAGES.values())
        elif part == "github":
            allowed = {"report"}
        else:
            allowed = (EDGES | JOINS | set().union(*STAGES.values())) - EDGE_MAY_NOT.get(part, set())
        if imported not in allowed:
            wrong.append(f"{file} imports {imported}")
    assert not wrong, wrong


def test_the_rule_sees_the_imports():
    assert ("replay.py", "replay", "oracle") in _imports()
    assert ("cli.py", "cli", "commands") in _imports()
