"""DLPack, the protocol by which array libraries share memory."""

from tapegrad.ops.export import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
