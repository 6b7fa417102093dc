"""Generation joined with the sandbox, the log readers and the bank: `utboost-action generate`."""

from __future__ import annotations

from utboost_action.generate.bench import SandboxBench
from utboost_action.generate.run import generate, run_generation

__all__ = ["SandboxBench", "generate", "run_generation"]
