"""A GitHub on loopback, with a state: REST, GraphQL and git over HTTP, as far as the action uses them.

Every exchange is recorded, so that a test can hold it against GitHub's published OpenAPI description
(`contract.py`). Addresses inside replies are the double's own, since clients follow them.
"""

from __future__ import annotations

from tests.github_double.contract import Contract, missing_openapi, webhook_examples
from tests.github_double.server import GitHubDouble
from tests.github_double.state import Comment, Exchange, Fault, Identity, Pull, Repository

__all__ = [
    "Comment",
    "Contract",
    "Exchange",
    "Fault",
    "GitHubDouble",
    "Identity",
    "Pull",
    "Repository",
    "missing_openapi",
    "webhook_examples",
]
