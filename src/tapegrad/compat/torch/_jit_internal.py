"""Where PyTorch keeps the marks of TorchScript: what programs import from there."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.jit._state import is_scripting
from tapegrad.jit.annotations import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingList4,
    BroadcastingList5,
    BroadcastingList6,
    Dict,
    Final,
    Future,
    List,
    Optional,
    Tuple,
    Union,
)
from tapegrad.jit.container_types import is_instance as _isinstance
from tapegrad.jit.modifiers import (
    FunctionModifiers,
    _copy_to_script_wrapper,
    _drop,
    _overload,
    _overload_method,
    copy_torchscript_modifier,
    export,
    get_torchscript_modifier,
    ignore,
    is_ignored_fn,
    should_drop,
    unused,
)

__all__ = [
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "BroadcastingList4",
    "BroadcastingList5",
    "BroadcastingList6",
    "Dict",
    "Final",
    "FunctionModifiers",
    "Future",
    "List",
    "Optional",
    "Tuple",
    "Union",
    "_copy_to_script_wrapper",
    "_drop",
    "_isinstance",
    "_overload",
    "_overload_method",
    "boolean_dispatch",
    "copy_torchscript_modifier",
    "export",
    "get_torchscript_modifier",
    "ignore",
    "is_ignored_fn",
    "is_scripting",
    "should_drop",
    "unused",
]


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that is `if_true` or `if_false`, as one of its arguments says."""

    def fn(*args, **kwargs):
        value = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if value else if_false)(*args, **kwargs)

    fn.__doc__ = if_true.__doc__ or if_false.__doc__
    fn.__module__, fn.__name__ = module_name or fn.__module__, func_name or fn.__name__
    return fn


__getattr__ = _refuses(__name__)
