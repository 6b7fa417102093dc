"""What was submitted: layouts by generation, predictions, metadata, results, integrity findings."""

from __future__ import annotations

from utboost_action.leaderboard.intake import Intake, read_submission, take_in
from utboost_action.leaderboard.integrity import runner_configuration

__all__ = ["Intake", "read_submission", "runner_configuration", "take_in"]
