# mypy: ignore-errors
"""Inside the sandbox: starts the tracer in every Python process that has this folder in its path."""

try:
    import utboost_tracer

    utboost_tracer.install()
except Exception:  # noqa: S110 (a process under test must start, whatever happens to the tracer)
    pass
