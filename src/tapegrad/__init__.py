"""tapegrad: PyTorch's autograd in readable Python. Public names are PyTorch's.

Operators come from `tapegrad.operators`; packages such as `nn` and `optim` are loaded when they are
first asked for.
"""

from math import e, inf, nan, pi
from os import environ as _environ
from sys import modules as _modules

from tapegrad.core.blas_sleep import sleeping as _sleeping
from tapegrad.core.garbage import uncollected as _uncollected

with _uncollected(), _sleeping():  # the search took a tenth of the time
    # first, from a shallow stack: at the edge of a piece of its stack Python takes and returns
    # memory for each call, and NumPy's import from the depths happened to run along one for 6 of
    # 100 ms
    import numpy as _numpy

    from tapegrad.operators import *
    from tapegrad.tensors.tensor import Tensor

from tapegrad import autograd
from tapegrad.autograd.mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from tapegrad.core.device import device, get_default_device, set_default_device
from tapegrad.core.dtype import (
    bfloat16,
    complex32,
    complex64,
    complex128,
    dtype,
    float4_e2m1fn_x2,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapegrad.core.limits import finfo, iinfo
from tapegrad.core.memory_format import *
from tapegrad.core.missing import missing as _missing
from tapegrad.core.promote_types import can_cast, promote_types, result_type
from tapegrad.core.size import Size
from tapegrad.core.warning_filters import install as _ignore_warnings_of_numbers

# Names that would shadow Python's own above: types, and None as NumPy calls it in an index.
from tapegrad.lazy_names import fill_slots as _fill_slots
from tapegrad.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from tapegrad.settings import *
from tapegrad.tensors.printing import set_printoptions
from tapegrad.version import __version__

from tapegrad.core.dtype import bool_ as bool  # isort: skip

half = float16
float = float32
double = float64
chalf = complex32
cfloat = complex64
cdouble = complex128
short = int16
int = int32
long = int64
newaxis = None

_fill_slots()

# NumPy warns of divisions by zero, overflows and the like; inf and nan are answers here.
_ignore_warnings_of_numbers()

if "TAPEGRAD_NATIVE" in _environ:
    from tapegrad.backends.native import switch_by_environment as _switch_by_environment

    _switch_by_environment(_environ["TAPEGRAD_NATIVE"])

if "IPython" in _modules:
    from tapegrad.compat.tracebacks import hide_in_ipython as _hide_in_ipython

    _hide_in_ipython()

_ON_DEMAND = frozenset(
    "amp backends compat compiler cpu cuda data distributed distributions fft func futures fx hub "
    "inspect jit library linalg masked multiprocessing nn ops optim overrides profiler quasirandom "
    "random return_types safetensors serialization signal sparse special storage testing "
    "torch_version utils version".split()
)


def __getattr__(name: str):
    """A package, or a function of a file that is loaded on demand, on its first use."""
    if name in _ON_DEMAND:
        from importlib import import_module

        return import_module(f"tapegrad.{name}")
    from tapegrad.core.lazy import found
    from tapegrad.lazy_names import FUNCTIONS

    value = found(FUNCTIONS, name)
    if value is None:
        from tapegrad.compat.insides import module_of

        value = module_of(name)
    if value is None:
        raise _missing("tapegrad", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names; the files that tapegrad is made of are not among them."""
    from types import ModuleType

    from tapegrad.lazy_names import function_names

    names = {n for n, value in globals().items() if not isinstance(value, ModuleType)}
    names = {n for n in names if n[:1] != "_" or n[:2] == "__"}
    functions = {name for name in function_names() if name[0] != "_"}
    return sorted(names | functions | _ON_DEMAND | {"autograd"})
