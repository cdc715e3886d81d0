"""`FlopCounterMode`: how many floating-point operations products and convolutions take.

A multiplication and an addition are two. Counted is what PyTorch counts on the same device: on the
CPU neither the attention nor the LSTM that are one operator each, on the meta device both. Bilinear
layers, and encoder layers without gradients, are products here: PyTorch has an operator for each.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

from tapegrad.arrays.namespaces import below_batches
from tapegrad.core import errors
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.tensor_base import TensorBase
from tapegrad.operators.nn.attention import attend_back
from tapegrad.operators.nn.rnn.cell import stepwise_gru, stepwise_lstm, stepwise_rnn
from tapegrad.operators.nn.rnn.rnn_rules import gru_back, lstm_back, rnn_back
from tapegrad.operators.shape.expand_broadcast import broadcast_shapes
from tapegrad.ops import OpOverloadPacket, aten
from tapegrad.overrides.dispatch_mode import TorchDispatchMode
from tapegrad.utils._pytree import tree_map
from tapegrad.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

flop_registry: dict[Any, Callable] = {}
"""The formulas, by operator: each takes what the operator is given, and `out_val`, its result."""


def _shapes(values: Any) -> Any:
    return tree_map(lambda x: x.shape if isinstance(x, TensorBase) else x, values)


def _of_shapes(formula: Callable) -> Callable:
    """A formula of tensors, made of one of their shapes."""

    @wraps(formula)
    def of_tensors(*args: Any, out_val: Any = None, **kwargs: Any) -> Any:
        given, named, out = _shapes((args, kwargs, out_val))
        return formula(*given, out_shape=out, **named)

    return of_tensors


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable:
    """Have a function say how many operations an operator of `torch.ops` takes.

    Args:
        targets: the operator, or several.
        get_raw: whether the function is given tensors, with the result as `out_val`; else it is
            given their shapes, with the result's as `out_shape`.

    >>> from tapegrad.utils.flop_counter import FlopCounterMode, flop_registry
    >>> @torch.utils.flop_counter.register_flop_formula(torch.ops.aten.exp)
    ... def exp_flop(shape, *args, out_shape=None, **kwargs):
    ...     return 10 * shape.numel()
    >>> with FlopCounterMode(display=False) as counter:
    ...     _ = torch.ones(3).exp()
    >>> counter.get_total_flops()
    30
    >>> del flop_registry[torch.ops.aten.exp]
    """

    def register(formula: Callable) -> Callable:
        found = formula if get_raw else _of_shapes(formula)
        for each in targets if isinstance(targets, Sequence) else [targets]:
            if not isinstance(each, OpOverloadPacket):
                raise errors.value_error(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket "
                    "(i.e. torch.ops.mylib.foo), JitFunction, or HigherOrderOperator, got "
                    f"{each} which is of type {type(each)}",
                    "Operators are attributes of torch.ops.aten.",
                )
            if each in flop_registry:
                raise errors.runtime_error(
                    f"duplicate registrations for {each}", "custom_mapping is of one block alone."
                )
            flop_registry[each] = found
        return formula

    return register


# --- formulas ------------------------------------------------------------------------------------


@register_flop_formula(aten.mm)
def mm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """The product of matrices (n, k) and (k, m): 2 n k m."""
    return 2 * a_shape[0] * a_shape[1] * b_shape[1]


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, **kwargs: Any) -> int:
    """The same, to which something is added: that is not counted."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Products of as many matrices as the leading axes count."""
    return 2 * prod(broadcast_shapes(a_shape[:-1], (*b_shape[:-2], 1))) * prod(b_shape[-2:])


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, **kwargs: Any) -> int:
    """The same, to which something is added."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Any, w_shape: Any, out_shape: Any, transposed: bool = False) -> int:
    """A convolution: each weight meets each place of the result, or of the image if transposed."""
    places = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * prod(places) * prod(w_shape)


@register_flop_formula(aten.convolution)
def conv_flop(
    x_shape: Any,
    w_shape: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """A convolution with its bias, which is not counted."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


@register_flop_formula(aten.convolution_backward, get_raw=True)
def _conv_backward_flop(
    g: Any, x: Any, w: Any, *args: Any, out_val: Any = None, transposed: bool = False, **kwargs: Any
) -> int:
    """One gradient of a convolution: of the image, whose place `x` is then empty, or of `w`."""
    if w.ndim:
        return conv_flop_count(g.shape, w.shape, out_val.shape, not transposed)
    if not x.ndim:
        return 0  # of the bias
    small, large = (x, g) if transposed else (g, x)
    places = prod(out_val.shape[2:]) * prod(small.shape[2:])
    return 2 * places * small.shape[0] * small.shape[1] * large.shape[1]


_RECURRENT = (aten.rnn_tanh_cell, aten.gru_cell, aten.mkldnn_rnn_layer)


@register_flop_formula(_RECURRENT, get_raw=True)
def _recurrent_flop(x: Any, *args: Any, sizes: Any, **kwargs: Any) -> int:
    """A recurrent layer: products of all inputs, and of each step's state."""
    w, u = [each.shape for each in args if each.ndim == 2][-2:]
    n = sum(sizes)
    return mm_flop((n, w[1]), w[::-1]) + mm_flop((n, u[1]), u[::-1])


# --- the mode ------------------------------------------------------------------------------------

suffixes = ["", "K", "M", "B", "T"]


def get_suffix_str(number: int) -> str:
    """The unit in which a number has no more than four places before the point, or so."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: int, suffix: str) -> str:
    """A number in a unit."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: int, denom: int) -> str:
    """A part of a whole in percent."""
    return f"{num / denom:.2%}" if denom else "0%"


class FlopCounterMode(TorchDispatchMode):
    """A block that counts operations, for each module and operator.

    Args:
        mods: no longer needed.
        depth: how deep modules are in the table (None: all).
        display: whether to print the table at the end.
        custom_mapping: more formulas, by operator; see `register_flop_formula`.

    >>> from tapegrad.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode() as counter:
    ...     torch.nn.Linear(4, 2)(torch.ones(3, 4)).sum().backward()
    Module          FLOP    % Total
    ------------  ------  ---------
    Linear            96    100.00%
    - aten.addmm      48     50.00%
    - aten.mm         48     50.00%
    >>> counter.get_total_flops()
    96
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        super().__init__()
        if mods is not None:
            errors.warn("mods argument is not needed anymore, you can stop passing it")
        self.depth = sys.maxsize if depth is None else depth
        self.display = display
        own = {
            packet: formula if getattr(formula, "_get_raw", False) else _of_shapes(formula)
            for packet, formula in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **own}
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """All operations of the block."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Operations by module and operator; "Global" has all."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        modules = [name for name in sorted(self.flop_counts) if name != "Global"]
        modules = [name for name in modules if name.count(".") + 1 <= depth]
        is_all = any(sum(self.flop_counts[name].values()) >= total for name in modules)
        if not is_all:
            modules.insert(0, "Global")
        unit = get_suffix_str(total)
        rows = []
        for name in modules if total or modules != ["Global"] else []:
            counts = self.flop_counts[name]
            lines = [(name, sum(counts.values())), *((f" - {k}", n) for k, n in counts.items())]
            rows += [
                (text, convert_num_with_suffix(n, unit), convert_to_percent_str(n, total))
                for text, n in lines
            ]
        return _table(("Module", "FLOP", "% Total"), rows or [("Global", "0", "0%")])

    def __enter__(self) -> "FlopCounterMode":
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        packet = func.overloadpacket
        formula = self.flop_registry.get(packet)
        if formula is not None and not _is_hidden(packet, args):
            n = formula(*args, **kwargs, out_val=out) * _members(args)
            for name in set(self.mod_tracker.parents):
                self.flop_counts[name][_counted_as(packet, args)] += n
        return out


_ONE_OPERATOR = frozenset([attend_back.__code__, lstm_back.__code__])  # on the CPU
_RECURRENT_BACK = frozenset([f.__code__ for f in (gru_back, lstm_back, rnn_back)])
_STEPS = frozenset([f.__code__ for f in (stepwise_gru, stepwise_lstm, stepwise_rnn)])


def _counted_as(packet: Any, args: tuple) -> Any:
    """The operator that has the count: of a recurrent layer that of its products."""
    if packet not in _RECURRENT:
        return packet
    has_bias = any(x.ndim == 1 for x in args)
    return aten.addmm if has_bias else aten.mm


def _is_hidden(packet: Any, args: tuple) -> bool:
    """Whether PyTorch has no such call, or one that it does not count.

    It has attention and LSTMs as one operator each on the CPU, and keeps the states of recurrent
    layers, which tapegrad makes again in the backward pass.
    """
    is_meta = any(x.is_meta for x in args if isinstance(x, TensorBase))
    if packet is aten.mkldnn_rnn_layer:
        return not is_meta
    by_steps = False
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if (by_steps and code in _RECURRENT_BACK) or (not is_meta and code in _ONE_OPERATOR):
            return True
        by_steps = by_steps or code in _STEPS
        frame = frame.f_back
    return False


def _members(args: tuple) -> int:
    """In how many members of a batch of `vmap` a call is computed."""
    arrays = [x._array for x in args if isinstance(x, TensorBase) and x._array.size]
    return max([below_batches(x).size // x.size for x in arrays], default=1)


def _table(head: tuple, rows: list[tuple]) -> str:
    """Columns as the package tabulate aligns them, numbers without zeros at their end."""
    if all(row[1][-1].isdigit() for row in rows):
        rows = [(text, f"{float(n):g}", part) for text, n, part in rows]
    rows = [(text.strip(), n, part) for text, n, part in rows]
    widths = [max(len(head[i]) + 2, *(len(row[i]) for row in rows)) for i in range(3)]
    lines = [head, tuple("-" * width for width in widths), *rows]
    return "\n".join(
        f"{text:<{widths[0]}}  {n:>{widths[1]}}  {part:>{widths[2]}}" for text, n, part in lines
    )


__getattr__ = _refuses(__name__)
