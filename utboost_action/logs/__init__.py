"""From the bytes of a test log to {test: outcome}: the corrected reading (docs/logs.md)."""

from __future__ import annotations

from utboost_action.logs.read import read_log
from utboost_action.logs.registry import PARSERS, parser_for_repo, parser_names

__all__ = ["PARSERS", "parser_for_repo", "parser_names", "read_log"]
