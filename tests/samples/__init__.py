"""The table of samples: one file for each family of operators; importing it registers the rows."""

from tapegrad.operators.loading import load_operators
from tests.samples import (
    activation,
    arithmetic,
    attention,
    comparison,
    complex,
    conv,
    conversion,
    distance,
    embedding,
    fft,
    indexing,
    interpolate,
    linalg,
    loss,
    normalization,
    pad,
    pointwise,
    pooling,
    random,
    reduction,
    rnn,
    shape,
    special,
    where,
)
from tests.samples.sample import ROWS, Make, Sample, samples_of

__all__ = ["ROWS", "Make", "Sample", "samples_of"]

load_operators()
