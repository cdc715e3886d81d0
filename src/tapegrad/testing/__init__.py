"""Testing operators, ours and yours: the table of samples, finite differences, assert_close."""

from tapegrad.testing.difference import jvp_error, second_order_error, vjp_error
from tapegrad.testing.sample import Make, Sample, samples_of

__all__ = ["Make", "Sample", "jvp_error", "samples_of", "second_order_error", "vjp_error"]
