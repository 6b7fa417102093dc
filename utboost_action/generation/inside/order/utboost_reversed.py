# mypy: ignore-errors
"""Inside the sandbox: a pytest plugin that reverses the order of the tests and says that it did."""


def pytest_collection_modifyitems(items):
    """Reverse in place, after every other plugin."""
    items.reverse()


def pytest_report_header():
    """One line that the log shows."""
    return "utboost: order reversed"
