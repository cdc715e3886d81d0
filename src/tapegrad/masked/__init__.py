"""torch.masked: reductions and normalisations of the elements where a mask is true.

Masked out elements become what leaves the operation unchanged: 0 for a sum, 1 for a product, -inf
for a maximum. A mask broadcasts to the input; without one every element counts.
"""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.masked._ops import *
from tapegrad.masked._ops import __all__

__getattr__ = _refuses(__name__)
