"""DLPack, the protocol by which array libraries share memory."""

from tapegrad.operators.conversion.item_numpy_tolist import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
