"""The Tensor namespace: the array standard's names for tensors.

Rules run on it when a derivative is itself differentiated, and array-API libraries find it through
`Tensor.__array_namespace__`. Every name here is an operator under its standard name and arguments,
or a kernel that rules use beyond the standard; the families are files of their own in `arrays/`.
"""

from tapegrad.core.lazy import found
from tapegrad.tensors.arrays.creation import *
from tapegrad.tensors.arrays.indexing import *
from tapegrad.tensors.arrays.kernel_table import TENSOR_KERNELS
from tapegrad.tensors.arrays.matmul import *
from tapegrad.tensors.arrays.pointwise import *
from tapegrad.tensors.arrays.reduction import *
from tapegrad.tensors.arrays.shape import *


def __getattr__(name: str):
    """A kernel of a file that is loaded on its first use."""
    kernel = found(TENSOR_KERNELS, name)
    if kernel is None:
        raise AttributeError(f"the namespace {__name__} has no {name}")
    globals()[name] = kernel
    return kernel
