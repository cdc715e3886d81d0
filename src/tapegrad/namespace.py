"""The Tensor namespace: the array standard's names for tensors.

Rules run on it when a derivative is itself differentiated, and array-API libraries find it through
`Tensor.__array_namespace__`. Every name here is an operator under its standard name and arguments,
or a kernel that rules use beyond the standard; the families are files of their own in `arrays/`.
"""

from tapegrad.arrays.tensor_create import *
from tapegrad.arrays.tensor_elementwise import *
from tapegrad.arrays.tensor_index import *
from tapegrad.arrays.tensor_linalg import *
from tapegrad.arrays.tensor_reduce import *
from tapegrad.arrays.tensor_shape import *


def __getattr__(name: str):
    """A kernel of a file that is loaded on its first use."""
    from tapegrad.later import TENSOR_KERNELS, found

    kernel = found(TENSOR_KERNELS, name)
    if kernel is None:
        raise AttributeError(f"the namespace {__name__} has no {name}")
    globals()[name] = kernel
    return kernel
