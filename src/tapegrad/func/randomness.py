"""Random functions inside `vmap`: forbidden, different for each member, or the same for all.

A function of tensors draws for the whole batch at once, so that the numbers are those of a call
outside on the batch.
"""

from tapegrad.arrays.batched.array import Batched, Level
from tapegrad.arrays.batched.refusal import inplace_error
from tapegrad.autograd.mode import MODE, Under
from tapegrad.core.annotations import Any, Callable, ModeLike, Sequence, Tensor
from tapegrad.core.errors import runtime_error
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.func.level import enter, is_inside, is_mapped, leave, lift
from tapegrad.func.vmap_mode import Mapping
from tapegrad.operators.shape.cat_stack import stack


def _outside(mode: ModeLike, level: Level) -> Any:
    """`mode` less a level."""
    if isinstance(mode, Mapping) and mode.level is level:
        return mode.under
    return mode.over(_outside(mode.under, level))


def outside(level: Level) -> Under:
    """A block outside of a level."""
    return Under(_outside(MODE.get(), level))


def checked(level: Level) -> str:
    """What random functions do in a level; an error where they are forbidden."""
    if level.randomness == "error":
        raise runtime_error(
            "vmap: called random operation while in randomness error mode. Please either use "
            "the 'same' or 'different' randomness flags on vmap or perform the randomness "
            "operation out of vmap",
            "vmap(f, randomness='different') draws numbers of its own for each sample.",
        )
    return level.randomness


def made(level: Level, function: Callable, shape: tuple[int, ...], together: bool) -> Any:
    """What `function(shape)` makes, inside a level; `together`: for the whole batch in one call."""
    how = checked(level)
    with outside(level):
        if how == "same":
            return lift(function(shape), level=level)
        if together:
            whole = function((level.size, *shape))
        else:
            whole = stack([function(shape) for _ in range(level.size)])
        return enter(whole, axis=0, level=level)


def drawn_of(function: Callable, like: bool, level: Level, args: tuple, kwargs: dict) -> Any:
    """A random function of tensors, called inside a level."""
    given = [*args, *kwargs.values()]
    if checked(level) == "same":
        if not like:
            _refuse_mapped(given, level)
        given = [_member(x, level) if isinstance(x, TensorBase) else x for x in given]
    else:
        first = next((i for i, x in enumerate(given) if isinstance(x, TensorBase)), 0)
        given = [_shown(x, level, i == first) for i, x in enumerate(given)]
    named = dict(zip(kwargs, given[len(args) :], strict=True))
    rows = getattr(given[0], "shape", ())[:-1] if function.__name__ == "multinomial" else ()
    if len(rows) == 2:  # it takes rows of weights, no batches of them
        given[0] = given[0].flatten(0, 1)
    with outside(level):
        found = function(*given[: len(args)], **named)
        found = found.unflatten(0, rows) if len(rows) == 2 else found
        if level.randomness == "same":
            return lift(found, level=level)
        return enter(found, axis=0, level=level)


def _refuse_mapped(given: Sequence, level: Level) -> None:
    """Raise for a tensor whose samples would want numbers of their own."""
    if any(isinstance(x, TensorBase) and is_mapped(x._array, level) for x in given):
        raise runtime_error(
            "Vmap does not currently support same randomness with a batched tensor input. "
            "Please file an issue with functorch",
            "Use randomness='different'.",
        )


def filled_in(function: Callable, level: Level, x: Tensor, args: tuple, kwargs: dict) -> Any:
    """A random function that fills `x`, called inside a level."""
    if checked(level) == "same":
        _refuse_mapped([*args, *kwargs.values()], level)
        blank = _member(x, level).detach().clone()
        with outside(level):
            drawn = lift(function(blank, *args, **kwargs), level=level)
        return x.copy_(drawn)
    if not is_mapped(x._array, level):
        for y in args:
            if isinstance(y, TensorBase) and is_mapped(y._array, level):
                raise inplace_error("bernoulli_", level, x._array, y._array)
        raise runtime_error(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This "
            "will appear like same randomness. If this is necessary for your usage, please "
            "file an issue with functorch.",
            "Fill a tensor made from a mapped one: torch.empty_like(x), x.new_empty(...).",
        )
    others = [_shown(y, level, False) for y in args]
    whole = leave(x.detach(), axis=0, level=level).clone()
    with outside(level):
        drawn = enter(function(whole, *others, **kwargs), axis=0, level=level)
    return x.copy_(drawn)


def _shown(x: Tensor, level: Level, first: bool) -> Any:
    """A tensor with the batch as its first axis; others that have none as they are."""
    if not isinstance(x, TensorBase):
        return x
    if is_mapped(x._array, level) or first:
        x = x if is_inside(x._array, level) else lift(x, level=level)
        return leave(x, axis=0, level=level)
    return _member(x, level)


def _member(x: Any, level: Level) -> Any:
    """One sample of a tensor, as a tensor from outside."""
    array = x._array
    if not is_inside(array, level):
        return x
    if type(array) is Batched and array.level is level:
        return wrap(array.value[0] if array.mapped else array.value)
    return leave(x, axis=0, level=level)[0]
