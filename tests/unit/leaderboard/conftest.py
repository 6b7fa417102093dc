"""The builder as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.leaderboard.submission_builders import Builder


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    """A submission at evaluation/verified/20260101_agent."""
    return Builder(tmp_path / "evaluation" / "verified" / "20260101_agent")
