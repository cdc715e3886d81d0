"""The digits that ship with the package."""

import hashlib

import numpy as np

from tapegrad.data import load_digits


def test_digits_are_those_of_the_source_in_its_order():
    images, labels = load_digits()
    content = hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()
    assert content == "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"


def test_digits_have_the_shapes_and_ranges_of_the_docstring():
    images, labels = load_digits()
    assert images.shape == (1797, 8, 8)
    assert images.dtype == labels.dtype == np.uint8
    assert (images.min(), images.max()) == (0, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_first_image_is_a_zero():
    images, labels = load_digits()
    assert labels[0] == 0
    assert images[0].tolist() == [
        [0, 0, 5, 13, 9, 1, 0, 0],
        [0, 0, 13, 15, 10, 15, 5, 0],
        [0, 3, 15, 2, 0, 11, 8, 0],
        [0, 4, 12, 0, 0, 8, 8, 0],
        [0, 5, 8, 0, 0, 9, 8, 0],
        [0, 4, 11, 0, 1, 12, 7, 0],
        [0, 2, 14, 5, 10, 12, 0, 0],
        [0, 0, 6, 13, 10, 0, 0, 0],
    ]


def test_each_call_gives_arrays_of_its_own():
    first, _ = load_digits()
    first[:] = 0
    assert load_digits()[0].any()
