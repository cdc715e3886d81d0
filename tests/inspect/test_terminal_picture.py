"""Grey images as characters."""

import numpy as np

from tapegrad.inspect.terminal_picture import draw_row


def test_five_levels_of_grey_have_five_characters():
    image = np.array([[0.0, 0.25, 0.5, 0.75, 1.0]])
    assert draw_row(image[None], ["ramp"]).splitlines() == ["  ░░▒▒▓▓██", "ramp"]


def test_a_terminal_without_blocks_gets_ascii():
    image = np.array([[0.0, 0.25, 0.5, 0.75, 1.0]])
    for encoding in ("ascii", "latin-1"):
        assert draw_row(image[None], ["ramp"], encoding=encoding).splitlines()[0] == "  ..::**##"


def test_images_stand_side_by_side_above_their_captions():
    images = np.ones((2, 2, 3))
    assert draw_row(images, ["a", "b"]).splitlines() == [
        "██████   ██████",
        "██████   ██████",
        "a        b",
    ]
