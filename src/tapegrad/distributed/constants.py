"""How long collectives and stores wait, unless told otherwise."""

from datetime import timedelta

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_timeout = timedelta(minutes=30)
default_pg_nccl_timeout: timedelta | None = None
"""None, as in PyTorch built without NCCL."""
