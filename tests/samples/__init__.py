"""The table of samples: one file for each family of operators; importing it registers the rows."""

from tapegrad.lazy_names import load_operators
from tests.samples import (
    activation,
    alignment,
    arithmetic,
    conversion,
    convolution,
    decomposition,
    distance,
    dual,
    factor,
    fourier,
    gate,
    image,
    index,
    margin,
    normalization,
    pointwise,
    polynomial,
    product,
    random,
    recurrence,
    reduce,
    selection,
    shape,
    special,
    statistics,
    truth,
)
from tests.samples.sample import ROWS, Make, Sample, samples_of

__all__ = ["ROWS", "Make", "Sample", "samples_of"]

load_operators()
