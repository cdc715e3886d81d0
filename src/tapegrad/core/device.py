"""Devices: naming them, the default one, and what happens where there is no GPU."""

from _thread import _local
from operator import index as _index

from tapegrad.core.errors import advised, invalid_combination, must_be, runtime_error

_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, "
    "vulkan, mps, meta, hpu, mtia, privateuseone"
)
_KNOWN = frozenset(_TYPES.split(", "))

_ADVICE = "tapegrad computes on the CPU: pass device='cpu', or ask torch.cuda.is_available() first."


class device:
    """Where a tensor's elements are; as a context manager, where new tensors go.

    >>> torch.device("cuda:1").index
    1
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __new__(cls, *args, **kwargs):
        given, n = _arguments(args, kwargs)
        made = object.__new__(cls)
        object.__setattr__(made, "type", given)
        object.__setattr__(made, "index", n)
        return made

    def __setattr__(self, name, value):
        if name in device.__slots__:
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")

    def __delattr__(self, name):
        self.__setattr__(name, None)

    def __repr__(self):
        n = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{n})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        if type(other) is not device:
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self):
        _defaults.before = (*_defaults.before, _defaults.device)
        _defaults.device = self
        return self

    def __exit__(self, *exception):
        _defaults.device = _defaults.before[-1]
        _defaults.before = _defaults.before[:-1]


def _arguments(args, kwargs):
    """The type and index meant by the arguments of `device(...)`."""
    if len(args) == 1 and not kwargs:
        return _of_one(args[0], args, kwargs)
    if not args and kwargs.keys() == {"device"}:
        return _of_one(kwargs["device"], args, kwargs)
    if not args and kwargs.keys() == {"type"} and type(kwargs["type"]) is str:
        return _parse(kwargs["type"])
    names = dict(zip(("type", "index"), args, strict=False)) | kwargs
    if len(args) + len(kwargs) != 2 or "type" not in names or "index" not in names:
        raise _invalid(args, kwargs)
    return _of_two(names["type"], names["index"])


def _of_one(x, args, kwargs):
    if type(x) is device:
        return x.type, x.index
    if isinstance(x, str):
        return _parse(x)
    if isinstance(x, bool) or not hasattr(x, "__index__") or hasattr(x, "__len__"):
        raise _invalid(args, kwargs)
    if _index(x) < 0:
        raise runtime_error("Device index must not be negative", f"Given {x}. {_ADVICE}")
    raise runtime_error("Cannot access accelerator device when none is available.", _ADVICE)


def _of_two(name, n):
    if not isinstance(name, str):
        raise must_be("device", "type", 1, "str", name)
    if n is not None and (isinstance(n, bool) or not hasattr(n, "__index__")):
        raise must_be("device", "index", 2, "int", n)
    kind, inside = _parse(name)
    if inside is not None:
        raise runtime_error(
            f"type (string) must not include an index because index was passed explicitly: {name}",
            f"Pass torch.device('{kind}', {inside}) or torch.device('{name}').",
        )
    if n is None:
        return kind, None
    n = _index(n)
    if n < 0:
        raise runtime_error("Device index must not be negative", f"Given {n}; indices start at 0.")
    return kind, n


def _parse(text):
    """Type and index of a device string: "cuda" or "cuda:1"."""
    if not text:
        raise runtime_error("Device string must not be empty", _ADVICE)
    kind, colon, digits = text.partition(":")
    is_word = kind.isascii() and kind.replace("_", "a").isalpha()
    is_number = digits.isascii() and digits.isdigit() and (digits == "0" or digits[0] != "0")
    if not is_word or (colon and not is_number):
        raise runtime_error(
            f"Invalid device string: '{text}'", "Write it as 'cpu', or with an index as 'cuda:0'."
        )
    if kind not in _KNOWN:
        raise runtime_error(
            f"Expected one of {_TYPES} device type at start of device string: {kind}", _ADVICE
        )
    return kind, int(digits) if colon else None


def _invalid(args, kwargs):
    return invalid_combination("device", args, kwargs, _FORMS)


_FORMS = ("torch.device device", "str type, int index = -1")

CPU = device("cpu")
META = device("meta")


class _Defaults(_local):  # each thread has its own, as in PyTorch
    device = CPU
    before = ()


_defaults = _Defaults()


def get_default_device() -> device:
    """Where new tensors go when `device` is not said.

    >>> torch.get_default_device()
    device(type='cpu')
    """
    found = _defaults.device
    if found.index is None and found.type not in ("cpu", "meta"):
        raise _unavailable(found)
    return found


def set_default_device(device) -> None:
    """Make `device` the place where this thread's new tensors go; None makes it the CPU again.

    >>> torch.set_default_device("cpu")
    """
    _defaults.device = CPU if device is None else as_device(device)


def as_device(x) -> device:
    """The device meant by `x`: a device or its name."""
    return x if type(x) is device else device(x)


def require_cpu(where=None) -> None:
    """Raise unless `where` is the CPU; None means the default device."""
    found = _defaults.device if where is None else as_device(where)
    if found.type != "cpu":
        raise _unavailable(found)


def place(where=None):
    """None for the CPU, `META` for the meta device, of a `device=` argument; raises for others."""
    found = _defaults.device if where is None else as_device(where)
    if found.type == "cpu":
        return None
    if found.type == "meta":
        return META
    raise _unavailable(found)


def _unavailable(found):
    kind = found.type
    if kind in ("cuda", "xpu", "mtia"):
        error = AssertionError(f"Torch not compiled with {kind.upper()} enabled")
    elif kind in ("hpu", "privateuseone"):
        error = ModuleNotFoundError(f"No module named 'torch.{kind}'")
    elif kind in ("meta", "lazy"):
        error = NotImplementedError(f"tapegrad has no tensors on the {kind} device")
    else:
        error = RuntimeError(f"PyTorch is not linked with support for {kind} devices")
    return advised(error, _ADVICE)
