"""Triton, which compiles kernels for GPUs: there are none here."""

from tapegrad.core.missing import refuses as _refuses


def has_triton_package() -> bool:
    """Whether kernels of Triton can be used."""
    return False


def has_triton() -> bool:
    return False


def has_triton_tma() -> bool:
    return False


def has_triton_tma_device() -> bool:
    return False


__getattr__ = _refuses(__name__)
