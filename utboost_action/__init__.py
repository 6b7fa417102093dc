"""UTBoost Action: rigorous audits of coding-agent submissions (see docs/architecture.md)."""

__version__ = "0.1.0"
