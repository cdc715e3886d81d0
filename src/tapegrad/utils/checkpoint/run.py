"""Running functions as checkpoints."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from tapegrad.autograd.backward_grad import backward as run_backward
from tapegrad.autograd.engine import BACKWARD_PASS
from tapegrad.autograd.function import Function
from tapegrad.autograd.mode import enable_grad, is_grad_enabled, no_grad
from tapegrad.autograd.saved_tensor_hooks import check_hooks
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.errors import warn
from tapegrad.core.tensor_base import TensorBase
from tapegrad.random import fork_rng, get_rng_state, set_rng_state
from tapegrad.utils.checkpoint.frame import Frame, Log, metadata, nothing


class Surroundings:
    """The state of the random generator, if `random`, and of autocast, now."""

    __slots__ = ("autocast", "random_state")

    def __init__(self, random: bool):
        self.random_state = get_rng_state() if random else None
        self.autocast = _autocast()

    @contextmanager
    def again(self) -> Iterator[None]:
        """A block in which both are as they were; the generator goes on afterwards where it was."""
        with fork_rng(enabled=self.random_state is not None):
            if self.random_state is not None:
                set_rng_state(self.random_state)
            if self.autocast is None:
                yield
                return
            from tapegrad.amp import autocast

            with autocast("cpu", **self.autocast):
                yield


def _autocast() -> dict[str, Any] | None:
    """The options of autocast now; None where nobody has ever used it."""
    if "tapegrad.amp.autocast_state" not in sys.modules:
        return None
    from tapegrad.amp import autocast_state as state

    return {
        "enabled": state.is_autocast_enabled("cpu"),
        "dtype": state.get_autocast_dtype("cpu"),
        "cache_enabled": state.is_autocast_cache_enabled(),
    }


class DefaultDeviceType:
    """The kind of device whose generators are forked besides the CPU's: there is none other.

    >>> torch.utils.checkpoint.DefaultDeviceType.get_device_type()
    'cpu'
    """

    _kind = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Accepted as in PyTorch; the generator of the CPU is always forked."""
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type() -> str:
        """What `set_device_type` was given, `"cpu"` before."""
        return DefaultDeviceType._kind


def get_device_states(*args: object) -> tuple[list, list]:
    """The devices of tensors other than the CPU, and their generators' states: none.

    >>> torch.utils.checkpoint.get_device_states(torch.ones(2))
    ([], [])
    """
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Set the states that `get_device_states` gave: there are none.

    >>> torch.utils.checkpoint.set_device_states([], [])
    """


class CheckpointFunction(Function):
    """What `checkpoint(..., use_reentrant=True)` applies."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(preserve_rng_state)
        ctx.inputs = [None if isinstance(x, TensorBase) else x for x in args]
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, TensorBase)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        inputs = list(ctx.inputs)
        for i, x in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = x
        inputs = list(detach_variable(tuple(inputs)))
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.run_function(*inputs)
        outputs = (outputs,) if isinstance(outputs, TensorBase) else outputs
        pairs = [
            (y, g)
            for y, g in zip(outputs, grads, strict=False)
            if isinstance(y, TensorBase) and y.requires_grad
        ]
        if not pairs:
            raise errors.runtime_error(
                "none of output has requires_grad=True, this checkpoint() is not necessary",
                "Call the function itself.",
            )
        run_backward([y for y, _ in pairs], [g for _, g in pairs])
        return (None, None, *[x.grad if isinstance(x, TensorBase) else None for x in inputs])


def _reentrant(function: Any, preserve_rng_state: bool, args: tuple) -> Any:
    """Apply it, and have it refuse passes in which leaves do not accumulate."""
    result = CheckpointFunction.apply(function, preserve_rng_state, *args)
    for x in result if isinstance(result, tuple) else (result,):
        node = x.grad_fn if isinstance(x, TensorBase) else None
        if node is not None:
            node.register_prehook(_check_pass)
            break
    return result


def _check_pass(grads: tuple) -> None:
    if BACKWARD_PASS.get().restricted:
        raise errors.runtime_error(
            "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
            "passing an `inputs` parameter to .backward(). To resolve this error, you can "
            "either set use_reentrant=False, or call .backward() without passing the `inputs` "
            "argument.",
            "Pass use_reentrant=False.",
        )


def check_backward_validity(inputs: Iterable) -> None:
    """Warn if none of the tensors among `inputs` requires grad.

    >>> torch.utils.checkpoint.check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, TensorBase)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: tuple) -> tuple:
    """The tensors of a tuple without history, each requiring grad if it did; the rest as it is.

    >>> x = torch.ones(1, requires_grad=True)
    >>> torch.utils.checkpoint.detach_variable((x * 2, "name"))
    (tensor([2.], requires_grad=True), 'name')
    """
    if not isinstance(inputs, tuple):
        raise errors.runtime_error(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}",
            "Pass a tuple.",
        )
    found = []
    for x in inputs:
        if isinstance(x, TensorBase):
            wanted, x = x.requires_grad, x.detach()
            x.requires_grad = wanted
        found.append(x)
    return tuple(found)


_EARLY_STOP: ContextVar[bool | None] = ContextVar("tapegrad_early_stop", default=None)
_DEBUG: ContextVar[bool | None] = ContextVar("tapegrad_checkpoint_debug", default=None)
_CHECKS: dict[str, Callable] = {"default": metadata, "none": nothing}


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing: the default of `checkpoint(..., context_fn=)`.

    >>> forward, again = torch.utils.checkpoint.noop_context_fn()
    """
    return nullcontext(), nullcontext()


@contextmanager
def _set(variable: ContextVar[bool | None], value: bool | None) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """In the block, say for all checkpoints whether the second run stops as soon as it may.

    >>> with torch.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     pass
    """
    return _set(_EARLY_STOP, enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """In the block, say for all checkpoints whether they list operators: `checkpoint(debug=)`.

    With None each decides by its own argument.

    >>> with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     pass
    """
    return _set(_DEBUG, enabled)


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, of which the graph keeps the inputs only.

    What the backward pass needs is computed again, when it is first wanted: memory for time. The
    function runs twice and has to do the same twice; random numbers and autocast are as they were.

    Args:
        use_reentrant: False, the better choice, keeps what a graph would keep by saved-tensor
            hooks. True (the default, with a warning) is a custom function that runs a backward
            pass inside the backward pass: without `autograd.grad`, `backward(inputs=)`, keyword
            arguments, or derivatives of the gradients, and one of `args` has to require grad.
        context_fn: gives two contexts, one for each run. Not with `use_reentrant=True`.
        determinism_check: "default" compares shapes and dtypes of the two runs, "none" nothing.
        debug: list the operators of both runs in an error about their difference.
        early_stop: end the second run when all that is wanted is there.
        preserve_rng_state: give the second run the random numbers of the first (default: True).

    Raises:
        CheckpointError: from the backward pass, if the second run kept other tensors.

    Source: Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016.

    >>> layer = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    >>> x = torch.ones(8, 4)
    >>> y = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> layer[0].weight.grad.shape
    torch.Size([64, 4])
    """
    if use_reentrant is None:
        warn(
            _unsaid(
                "checkpoint",
                "Starting in PyTorch 2.9, calling checkpoint without "
                "use_reentrant will raise an exception.",
            )
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs and use_reentrant:
        raise _unexpected(kwargs)
    if not use_reentrant:
        return _checkpoint(
            function, preserve, context_fn, determinism_check, debug, early_stop, args, kwargs
        )
    if context_fn is not noop_context_fn or debug is not False:
        raise errors.value_error(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False.",
            "Pass use_reentrant=False.",
        )
    return _reentrant(function, preserve, args)


def _checkpoint(
    function: Callable,
    preserve: bool,
    context_fn: Callable,
    determinism_check: str,
    debug: bool,
    early_stop: bool,
    args: tuple,
    kwargs: dict,
) -> Any:
    """The kind that stands on saved-tensor hooks."""
    forced = _DEBUG.get()
    debug = debug if forced is None else forced
    log = None
    if debug:
        if context_fn is not noop_context_fn:
            raise errors.value_error(
                "debug=True is incompatible with non-default context_fn", "Leave one of them away."
            )
        log = Log()
        context_fn = log.contexts
    if determinism_check not in _CHECKS:
        raise errors.value_error(
            f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}",
            "'default' compares shapes and dtypes.",
        )
    first, second = context_fn()
    surroundings = Surroundings(preserve)

    def run_again(*args: object) -> None:
        with surroundings.again(), second:
            function(*args, **kwargs)

    forced = _EARLY_STOP.get()
    frame = Frame(
        run_again, early_stop if forced is None else forced, _CHECKS[determinism_check], log
    )
    if not is_grad_enabled():
        return function(*args, **kwargs)
    check_hooks()
    frame.keep(args)
    with frame.hooks(), first:
        result = function(*args, **kwargs)
    frame.complete = True
    return result


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Tensor,
    use_reentrant: bool | None = None,
    **kwargs: object,
) -> Any:
    """Functions one after another, in `segments` stretches: all but the last are checkpoints.

    Args:
        functions: a `Sequential`, or functions of one argument.
        segments: into how many stretches they are divided.
        input: what the first function is given.
        use_reentrant: as for `checkpoint`.
        preserve_rng_state: as for `checkpoint`.

    >>> layers = torch.nn.Sequential(*[torch.nn.Tanh() for _ in range(4)])
    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint_sequential(layers, 2, x, use_reentrant=False).shape
    torch.Size([2])
    """
    from tapegrad.nn import Sequential

    if use_reentrant is None:
        warn(
            _unsaid(
                "checkpoint_sequential",
                "In version 2.9 we will raise an exception if use_reentrant is not passed.",
            )
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise _unexpected(kwargs)
    if isinstance(functions, Sequential):
        functions = list(functions.children())

    def stretch(start: int, stop: int) -> Callable:
        def run(x: object) -> Any:
            for function in functions[start:stop]:
                x = function(x)
            return x

        return run

    size = len(functions) // segments
    stop = 0
    for start in range(0, size * (segments - 1), size):
        stop = start + size
        input = checkpoint(
            stretch(start, stop), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return stretch(stop, len(functions))(input)


def _unsaid(name: str, future: str) -> str:
    return (
        f"torch.utils.checkpoint{'.' + name if name != 'checkpoint' else ''}: the use_reentrant "
        f"parameter should be passed explicitly. {future} use_reentrant=False is recommended, but "
        "if you need to preserve the current default behavior, you can pass use_reentrant=True. "
        "Refer to docs for more details on the differences between the two variants."
    )


def _unexpected(kwargs: dict) -> ValueError:
    return errors.value_error(
        "Unexpected keyword arguments: " + ",".join(kwargs),
        "Keyword arguments reach the function with use_reentrant=False.",
    )
