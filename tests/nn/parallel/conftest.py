"""A world of one rank for each test that asks for it."""

from tests.distributed.conftest import world

__all__ = ["world"]
