"""Pictures made of the characters that a terminal can print."""

import numpy as np

_SHADES = " ░▒▓█"
_ASCII = str.maketrans("░▒▓█├└│─↑", ".:*#|`|-^") | {ord("…"): "..."}


def draw_row(images: np.ndarray, captions: list[str], *, encoding: str = "utf-8") -> str:
    """Images side by side, each with its caption below; a pixel is two characters wide.

    Args:
        images: (n, height, width), values from 0 (paper) to 1 (ink).
        captions: n lines of text.
        encoding: that of the terminal; where it has no shaded blocks, ASCII takes their place.

    >>> from tapegrad.inspect.terminal_picture import draw_row
    >>> image = np.array([[0.0, 1.0], [1.0, 0.5]])
    >>> print(draw_row(np.stack([image, 1 - image]), ["one", "two"], encoding="ascii"))
      ##   ##
    ##::     ::
    one    two
    """
    shades = np.array(list(printable(_SHADES, encoding)))
    level = np.rint(images * (len(shades) - 1)).astype(int)  # (n, height, width)
    pictures = [["".join(row.repeat(2)) for row in shades[image]] for image in level]
    lines = [_join(rows) for rows in zip(*pictures, strict=True)]
    width = 2 * images.shape[2]
    return "\n".join([*lines, _join([caption.ljust(width) for caption in captions])])


def printable(text: str, encoding: str) -> str:
    """`text`, its blocks and lines in ASCII where the terminal's encoding lacks them.

    >>> from tapegrad.inspect.terminal_picture import printable
    >>> printable("└─ █", "ascii")
    '`- #'
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII)
    return text


def _join(parts):
    return "   ".join(parts).rstrip()
