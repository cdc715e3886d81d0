"""The rows, one file for each family of operators; importing them registers them."""

from tapegrad.lazy_names import load_operators
from tapegrad.testing.samples import (
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

load_operators()
