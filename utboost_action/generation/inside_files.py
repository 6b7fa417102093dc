"""The files that are put into the sandbox: read from the package, addressed by folder."""

from __future__ import annotations

from importlib import resources


def inside_files(folder: str, *, target: str) -> dict[str, bytes]:
    """The Python files of `inside/FOLDER`, by their names below `target`."""
    root = resources.files("utboost_action.generation") / "inside" / folder
    return {
        f"{target}/{entry.name}": entry.read_bytes()
        for entry in sorted(root.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".py")
    }
