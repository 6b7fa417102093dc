"""Which reader serves which parser name and repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from utboost_action.errors import InputError
from utboost_action.logs.pytest_runner import read_pytest
from utboost_action.logs.reading import Reading
from utboost_action.logs.sympy_runner import read_sympy
from utboost_action.logs.unittest_runner import read_unittest

Reader = Callable[[bytes, frozenset[str]], Reading]
"""Takes the cleaned test output and the ids that the caller knows."""

_PREFIX = "parse_log_"

_PYTEST_NAMES = [
    "pytest",
    "pytest_options",
    "pytest_v2",
    "astroid",
    "astropy",
    "flask",
    "marshmallow",
    "matplotlib",
    "pvlib",
    "pydicom",
    "pylint",
    "pyvista",
    "requests",
    "scikit",
    "seaborn",
    "sphinx",
    "sqlfluff",
    "xarray",
]

PARSERS: Mapping[str, Reader] = MappingProxyType(
    {
        "django": read_unittest,
        "unittest": read_unittest,
        "nose": read_unittest,
        "sympy": read_sympy,
        **dict.fromkeys(_PYTEST_NAMES, read_pytest),
    }
)
"""Short parser name -> reader. The official name has `parse_log_` before it."""

_REPOSITORIES = {
    "astropy/astropy": "astropy",
    "django/django": "django",
    "marshmallow-code/marshmallow": "marshmallow",
    "matplotlib/matplotlib": "matplotlib",
    "mwaskom/seaborn": "seaborn",
    "pallets/flask": "flask",
    "psf/requests": "requests",
    "pvlib/pvlib-python": "pvlib",
    "pydata/xarray": "xarray",
    "pydicom/pydicom": "pydicom",
    "pylint-dev/astroid": "astroid",
    "pylint-dev/pylint": "pylint",
    "pytest-dev/pytest": "pytest",
    "pyvista/pyvista": "pyvista",
    "scikit-learn/scikit-learn": "scikit",
    "sphinx-doc/sphinx": "sphinx",
    "sqlfluff/sqlfluff": "sqlfluff",
    "sympy/sympy": "sympy",
}


def parser_names() -> tuple[str, ...]:
    """Return the short parser names, sorted."""
    return tuple(sorted(PARSERS))


def parser_for_repo(repo: str | None) -> str | None:
    """Return the official parser name for `owner/name`, None where no parser is known for it."""
    name = _REPOSITORIES.get((repo or "").lower())
    return _PREFIX + name if name is not None else None


def reader_for(parser: str) -> Reader:
    """Return the reader of a parser name, short (`django`) or official (`parse_log_django`).

    Raises InputError for an unknown name.
    """
    reader = PARSERS.get(parser.removeprefix(_PREFIX))
    if reader is None:
        raise InputError(f"unknown log parser {parser!r}: use one of {', '.join(parser_names())}")
    return reader
