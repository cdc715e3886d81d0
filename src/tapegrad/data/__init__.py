"""Data that ships with the package: SOURCE.txt, one of its licences, says where it comes from."""

import bz2
from pathlib import Path

import numpy as np

_N = 1797


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """The UCI handwritten digits, as images and labels.

    Returns:
        images: (1797, 8, 8) uint8, each pixel from 0 (paper) to 16 (ink).
        labels: (1797,) uint8, from 0 to 9.

    Source: Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998 (CC BY 4.0).

    >>> from tapegrad.data import load_digits
    >>> images, labels = load_digits()
    >>> images.shape, labels[:5].tolist()
    ((1797, 8, 8), [0, 1, 2, 3, 4])
    """
    packed = Path(__file__).with_name("digits.bz2").read_bytes()
    numbers = np.frombuffer(bz2.decompress(packed), np.uint8)
    labels, columns = numbers[:_N].copy(), numbers[_N:].reshape(64, _N)
    images = np.empty((_N, 64), np.uint8)
    images[np.argsort(labels, kind="stable")] = columns.T
    return images.reshape(_N, 8, 8), labels
