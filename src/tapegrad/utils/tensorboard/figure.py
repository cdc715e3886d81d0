"""Figures of Matplotlib as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np


def figure_to_image(figures: Any, close: bool = True) -> np.ndarray:
    """The bytes of a figure (3, H, W), or of several (N, 3, H, W); `close` closes them.

    >>> from matplotlib.figure import Figure
    >>> from tapegrad.utils.tensorboard.figure import figure_to_image
    >>> figure_to_image(Figure(figsize=(2, 1), dpi=50), close=False).shape
    (3, 50, 100)
    """
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def pixels(figure):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        rgba = np.asarray(canvas.buffer_rgba())  # (H, W, 4)
        if close:
            pyplot.close(figure)
        return rgba[:, :, :3].transpose(2, 0, 1)

    return np.stack([pixels(f) for f in figures]) if isinstance(figures, list) else pixels(figures)
