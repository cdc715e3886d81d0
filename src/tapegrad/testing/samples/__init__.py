"""The rows, one file for each family of operators; importing them registers them."""

from tapegrad.later import load_operators
from tapegrad.testing.samples import (
    activation,
    arithmetic,
    conversion,
    factor,
    distance,
    dual,
    fourier,
    index,
    pointwise,
    product,
    random,
    reduce,
    selection,
    shape,
    special,
    truth,
)

load_operators()
