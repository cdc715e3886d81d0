"""The processor: which of its vector instructions there are."""

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The widest vector instructions of this processor: `"AVX512"`, `"AVX2"` or `"DEFAULT"`.

    NumPy chooses its loops by them. Programs ask in order to choose between ways to the same
    result, as torchvision does before it resizes images of bytes.

    >>> torch.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    from numpy._core._multiarray_umath import __cpu_features__ as has  # type: ignore

    if has.get("AVX2") and has.get("FMA3"):
        wide = all(has.get(f"AVX512{part}") for part in ("F", "VL", "BW", "DQ"))
        return "AVX512" if wide else "AVX2"
    return "DEFAULT"
