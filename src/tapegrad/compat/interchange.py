"""Live objects of PyTorch made into ours, and ours into PyTorch's, where PyTorch is installed."""

import sys
from collections import OrderedDict, defaultdict
from importlib import import_module

import tapegrad
from tapegrad import nn
from tapegrad.autograd.node import make_leaf
from tapegrad.core.annotations import Any, Callable, ModuleLike
from tapegrad.core.device import device
from tapegrad.core.dtype import BY_NAME, bfloat16
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.errors import advised, not_implemented, runtime_error, type_error
from tapegrad.core.size import Size
from tapegrad.core.tensor_base import wrap
from tapegrad.nn.modules.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor

__torch__ = "from_torch to_torch"


def from_torch(obj: object, into: Module | None = None) -> Any:
    """PyTorch's object as ours: tensors on the same memory where they are on the CPU.

    Tensors, parameters, dtypes, devices and sizes, and dicts, lists, tuples of them; history stays
    behind. The numbers of a module are copied: to `into`, or, if it is made of PyTorch's own layers
    (`Sequential`, `Linear`, `ReLU`, ...), to a new module of ours.

    Args:
        obj: what PyTorch has
        into: for a module, ours of the same structure, which is filled and returned

    >>> tapegrad.from_torch({"lr": 0.1})
    {'lr': 0.1}
    """
    pytorch = _pytorch()
    if pytorch is None:
        return _walk(obj, _unchanged)
    if isinstance(obj, pytorch.nn.Module):
        return _filled(into, obj, from_torch) if into is not None else _layers(pytorch, obj)
    if into is not None:
        raise TypeError(f"into= is for modules, and obj is a {type(obj).__name__}")
    return _walk(obj, _once(lambda x: _ours(pytorch, x)))


def to_torch(obj: object, into: Any = None) -> Any:
    """Our object as PyTorch's: tensors on the same memory.

    Args:
        obj: tensors, parameters, dtypes, devices, sizes, containers of them; or a module
        into: for a module, PyTorch's of the same structure, which is filled and returned

    >>> import sys
    >>> from tapegrad.compat import interchange
    >>> interchange.to_torch([1, {"a": None}])
    [1, {'a': None}]
    """
    if isinstance(obj, Module):
        if into is None:
            raise type_error(
                "to_torch() of a module needs into=, PyTorch's module to be filled",
                "Make it there with the same arguments: to_torch(model, into=TheirModel(...)).",
            )
        return _filled(into, obj, to_torch)
    if into is not None:
        raise TypeError(f"into= is for modules, and obj is a {type(obj).__name__}")
    return _walk(obj, _once(_theirs))


# --- PyTorch -----------------------------------------------------------------------------------


def _pytorch() -> Any:
    """PyTorch, if something has imported it: without that there are no objects of it."""
    found = sys.modules.get("torch")
    return None if found is tapegrad else found


def _needed() -> Any:
    """PyTorch, imported now."""
    if sys.modules.get("torch") is tapegrad:
        raise runtime_error(
            "`import torch` is served by tapegrad: there is no PyTorch",
            "Call tapegrad.compat.uninstall() first.",
        )
    try:
        return import_module("torch")  # its types are unknown where it is not installed
    except ImportError as error:
        raise advised(
            ImportError("to_torch() of tensors needs PyTorch"), "Install the package torch."
        ) from error


# --- containers ----------------------------------------------------------------------------------


def _walk(obj: Any, change: Callable[[Any], Any]) -> Any:
    """`obj` with `change` made to everything that is no container."""
    kind = type(obj)
    if kind is dict or kind is OrderedDict or kind is defaultdict:
        found: Any = kind(obj.default_factory) if kind is defaultdict else kind()
        for key, value in obj.items():
            found[_walk(key, change)] = _walk(value, change)
        if kind is OrderedDict:
            found.__dict__.update(obj.__dict__)  # a state_dict's versions
        return found
    if kind is list or kind is tuple or kind is set:
        return kind([_walk(x, change) for x in obj])
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return kind(*[_walk(x, change) for x in obj])
    return change(obj)


def _unchanged(x: object) -> Any:
    return x


def _once(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`change`, which gives the same object again for the same object."""
    known: dict[int, tuple[Any, Any]] = {}

    def changed(x: object) -> Any:
        if id(x) not in known:
            known[id(x)] = x, change(x)  # with x, so that its id stays taken
        return known[id(x)][1]

    return changed


# --- tensors -------------------------------------------------------------------------------------


def _ours(pytorch: Any, x: object) -> Any:
    if isinstance(x, pytorch.Tensor):
        array = _array(pytorch, x)
        if isinstance(x, pytorch.nn.Parameter):
            return Parameter(wrap(array), x.requires_grad)
        found = wrap(array)
        return make_leaf(found) if x.requires_grad else found
    if isinstance(x, pytorch.dtype):
        name = str(x).removeprefix("torch.")
        if name not in BY_NAME:
            raise not_implemented(f"tapegrad has no {x}", "Convert to a dtype that it has.")
        return BY_NAME[name]
    if isinstance(x, pytorch.device):
        return device(str(x))
    if isinstance(x, pytorch.Size):
        return Size(x)
    home = getattr(x, "__module__", None) or type(x).__module__
    if home.partition(".")[0] == "torch":
        raise not_implemented(
            f"from_torch() cannot convert a {type(x).__name__}: {x!r:.80}",
            "Convert the tensors that it holds.",
        )
    return x


def _array(pytorch: Any, x: Any) -> Any:
    """A tensor's memory as an array: shared, unless it is elsewhere or waits to be computed."""
    if x.layout is not pytorch.strided or x.is_quantized:
        raise not_implemented(
            f"tapegrad has no tensors of layout {x.layout}",
            "Convert it first: x.to_dense(), x.dequantize().",
        )
    plain = x.detach().cpu().resolve_conj().resolve_neg()
    if plain.dtype is pytorch.bfloat16:
        return plain.view(pytorch.int16).numpy().view(bfloat16.numpy)
    return plain.numpy()


def _theirs(x: object) -> Any:
    if isinstance(x, Tensor):
        pytorch = _needed()
        array = x._array
        if not array.flags.writeable or any(step < 0 for step in array.strides):
            array = array.copy()  # PyTorch has no such tensors
        if x.dtype is bfloat16:
            found = pytorch.from_numpy(array.view("i2")).view(pytorch.bfloat16)
        else:
            found = pytorch.from_numpy(array)
        if isinstance(x, Parameter):
            return pytorch.nn.Parameter(found, x.requires_grad)
        return found.requires_grad_(x.requires_grad)
    if isinstance(x, Dtype):
        return getattr(_needed(), x.name)
    if isinstance(x, device):
        return _needed().device(str(x))
    if isinstance(x, Size):
        return _needed().Size(x)
    return x


# --- modules -------------------------------------------------------------------------------------


def _filled(module: ModuleLike, source: Any, convert: Callable[[Any], Any]) -> Any:
    """`module` with the state of `source` and its mode."""
    module.load_state_dict(convert(source.state_dict()))
    return module.train(source.training)


def _layers(pytorch: Any, theirs: Any) -> Any:
    """A module of ours with the attributes of PyTorch's and copies of its tensors."""

    def layer(theirs: Any) -> Any:
        kind = type(theirs)
        ours = getattr(nn, kind.__name__, None)
        if not kind.__module__.startswith("torch.nn.modules.") or ours is None:
            raise not_implemented(
                f"from_torch() cannot make a module of class {kind.__name__}",
                "Make ours and pass it: from_torch(model, into=OurModule(...)).",
            )
        found = ours.__new__(ours)
        Module.__init__(found)
        for name, value in theirs.__dict__.items():
            if not name.endswith("_hooks"):
                found.__dict__[name] = attribute(name, value)
            elif value:
                raise not_implemented(
                    f"the module has hooks, {name}, which are PyTorch's",
                    "Remove them first, or register ours afterwards.",
                )
        return found

    def attribute(name: str, value: Any) -> Any:
        if name == "_modules":
            return {key: each and layer_once(each) for key, each in value.items()}
        if name in ("_parameters", "_buffers"):
            return {key: None if x is None else copied(x) for key, x in value.items()}
        return _walk(value, convert)

    def copy(x: Any) -> Any:
        alone = x.detach().clone()
        if isinstance(x, pytorch.nn.Parameter):
            alone = pytorch.nn.Parameter(alone, x.requires_grad)
        return _ours(pytorch, alone)

    layer_once, copied = _once(layer), _once(copy)
    convert = _once(lambda x: _ours(pytorch, x))
    return layer_once(theirs)
