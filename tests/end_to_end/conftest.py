"""The real instances' images, as for the tests of the real layer."""

from tests.real.conftest import built

__all__ = ["built"]
