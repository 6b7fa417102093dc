"""Inside the sandbox: a pytest plugin that reverses the order of the tests and says that it did."""


def pytest_collection_modifyitems(items):  # type: ignore[no-untyped-def]
    """Reverse in place, after every other plugin."""
    items.reverse()


def pytest_report_header():  # type: ignore[no-untyped-def]
    """One line that the log shows."""
    return "utboost: order reversed"
