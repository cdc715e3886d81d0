"""`vmap`: a function of one sample as a function of a batch of them."""

import functools

from tapegrad.arrays.batched.array import Batched, Level
from tapegrad.autograd.mode import MODE, TRANSFORMS, InTransform
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Dim, ModeLike, Tensor
from tapegrad.core.shape import axis_of
from tapegrad.core.tensor_base import TensorBase
from tapegrad.core.torch_function import undisturbed
from tapegrad.func.level import enter, is_inside, leave, lift, transforms
from tapegrad.func.vmap_mode import Mapping, is_mapped
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.random import get_rng_state, set_rng_state
from tapegrad.utils._pytree.tree import tree_flatten as flatten
from tapegrad.utils._pytree.tree import tree_unflatten as unflatten
from tapegrad.utils._pytree.treespec import TreeSpec, spread

__torch__ = "vmap"


def name_of(func: Callable) -> str:
    """The name of a function in errors."""
    return getattr(func, "__name__", None) or repr(func)


def mapped_arguments(func: Callable, in_dims: Any, args: tuple) -> tuple[list, list, Any, int]:
    """The dimension of each leaf of the arguments, the leaves, their structure, the size."""
    start = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise errors.value_error(
            f"{start}expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}.",
            "Write a tuple with a number or None for each argument.",
        )
    if not args:
        raise errors.value_error(
            f"vmap({name_of(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, "
            "or you are trying to vmap over a function with no inputs. The latter is "
            "unsupported.",
            "Pass at least one tensor by place.",
        )
    leaves, structure = flatten(args)
    dims = _matched(start, "in_dims", in_dims, "inputs", structure)
    sizes = []
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        dims[i] = _checked(start, x, dim)
        if dim is not None:
            sizes.append(x.shape[dims[i]])
    return dims, leaves, structure, batch_size(sizes)


def _matched(start: str, name: str, given: object, whose: str, structure: TreeSpec) -> list:
    """A dimension for each tensor of a tree, from a number or tree of numbers called `name`."""
    dims = spread(given, structure)
    if dims is None:
        raise errors.value_error(
            f"{start}{name} is not compatible with the structure of `{whose}`. {name} has "
            f"structure {flatten(given)[1]} but {whose} has structure {structure}.",
            "A number stands for everything below it.",
        )
    return dims


def _checked(start: str, x: Tensor, dim: Dim) -> Any:
    """A dimension counted from the front, checked against its argument."""
    if not isinstance(dim, int):
        if dim is None:
            return None
        raise errors.value_error(
            f"{start}Got in_dim={dim} for an input but in_dim must be either an integer "
            "dimension or None.",
            "None says that the input is the same for each sample.",
        )
    if not isinstance(x, TensorBase):
        raise errors.value_error(
            f"{start}Got in_dim={dim} for an input but the input is of type {type(x)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim",
            "Write in_dims as a tuple, with None for it.",
        )
    if isinstance(dim, bool):
        raise errors.type_error(
            "size(): argument 'dim' (position 1) must be int, not bool",
            "Number the dimension: 0 is the first.",
        )
    ndim = x.ndim
    if not -ndim <= dim < ndim:
        raise errors.value_error(
            f"{start}Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}.",
            "in_dims names the dimension of each argument that is mapped over.",
        )
    return dim % ndim


def batch_size(sizes: list) -> int:
    """The one size of all mapped dimensions."""
    if not sizes:
        raise errors.value_error(
            "vmap: Expected at least one Tensor to vmap over", "in_dims has None for all arguments."
        )
    if len(set(sizes)) > 1:
        raise errors.value_error(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got "
            f"sizes {sizes} for the mapped dimension",
            "A batch has as many samples in each argument.",
        )
    return sizes[0]


# --- results ---


def places_of(func: Callable, out_dims: Any, structure: TreeSpec) -> list:
    """The dimension of each result, as it was given."""
    start = f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): "
    if structure.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    dims = _matched(start, "out_dims", out_dims, "outputs", structure)
    for dim in dims:
        if dim is not None and not isinstance(dim, int):
            raise errors.value_error(
                f"{start[:-12]}: `out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension should appear.",
                "Write a number for each result.",
            )
    return dims


RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """`func`, written for one member, as a function of batches: one pass, no loop.

    Args:
        func: a function of tensors or trees of them (tuples, lists, dictionaries, named tuples)
            that gives a tensor or a tree of them.
        in_dims: which dimension of each argument is mapped over: a number for all, or a tree like
            the arguments with numbers, and None for what is the same for each sample. Keyword
            arguments are not mapped over.
        out_dims: where that dimension appears in each result; None for one that is not mapped.
        randomness: what random functions do: "error", "different" numbers for each member, or
            the "same" ones.
        chunk_size: how many samples are computed at a time; None for all.

    Raises:
        ValueError: for dimensions that do not fit the arguments or results.
        RuntimeError: inside, for a branch on values, `item()`, a write of mapped values into a
            tensor that is not mapped, and randomness that was not allowed.

    >>> from tapegrad.func import vmap
    >>> x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 10.0])
    >>> vmap(torch.dot, in_dims=(0, None))(x, y)
    tensor([21., 43.])
    >>> vmap(vmap(torch.mul), in_dims=(0, 1))(x, x).shape
    torch.Size([2, 2])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise errors.value_error(
            f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})",
            "It is how many samples are computed at a time.",
        )

    @functools.wraps(func)
    def mapped(*args: object, **kwargs: object) -> Any:
        if len(REPLACED) == len(REPLACEABLE) and chunk_size is None:
            return _by_others(func, in_dims, out_dims, randomness, args, kwargs)
        dims, leaves, structure, size = mapped_arguments(func, in_dims, args)
        places = functools.partial(places_of, func, out_dims)
        run = functools.partial(_whole, func, dims, structure, places, randomness, kwargs)
        if chunk_size is None:
            return run(leaves, size)
        return _in_chunks(run, places, dims, leaves, size, chunk_size, randomness == "same")

    return mapped


def check_randomness(randomness: str) -> None:
    """Raise for what `randomness=` does not know."""
    if randomness not in RANDOMNESS:
        raise errors.runtime_error(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}",
            "'different' draws for each member, 'same' once for all.",
        )


# --- running --------------------------------------------------------------------------------------


def _whole(
    func: Callable,
    dims: list,
    structure: TreeSpec,
    places: Callable,
    randomness: str,
    kwargs: dict,
    leaves: list,
    size: int,
) -> Any:
    """All samples in one pass; `places` gives the batch dimensions of the results."""
    level = Level(size, randomness)
    inside = [
        x if dim is None else undisturbed(enter, x, axis=dim, level=level)
        for x, dim in zip(leaves, dims, strict=True)
    ]
    result = _within(level, lambda: func(*unflatten(inside, structure), **kwargs))
    outs, own = flatten(result)
    found = [
        undisturbed(left, name_of(func), y, dim, level)
        for y, dim in zip(outs, places(own), strict=True)
    ]
    return unflatten(found, own)


def _within(level: Level, run: Callable) -> Any:
    """What a function gives that runs in a level."""
    with InTransform(Mapping(MODE.get(), level), level):
        level.transforms = TRANSFORMS.get()
        level.depth = level.transforms[1]
        try:
            return run()
        finally:
            level.transforms = ()  # which holds the level


REPLACEABLE = ("_process_batched_inputs", "_create_batched_inputs", "_unwrap_batched")
REPLACED: dict[str, Callable] = {}
"""What a package has put in the place of steps of `torch._functorch.vmap`: tensordict does, whose
containers are mapped over as a whole."""


def _by_others(
    func: Callable, in_dims: Any, out_dims: Any, randomness: str, args: tuple, kwargs: dict
) -> Any:
    """All samples in one pass, by the steps in `REPLACED`."""
    process, create, unwrap = [REPLACED[each] for each in REPLACEABLE]
    size, dims, leaves, structure = process(in_dims, args, func)

    def run() -> Any:
        number = len(transforms())
        result = func(*create(dims, leaves, number, structure), **kwargs)
        return unwrap(result, out_dims, number, size, func)

    return _within(Level(size, randomness), run)


def depth_of(mode: ModeLike) -> int:
    """How many levels a mode has."""
    depth = 0
    while type(mode) is not bool and mode is not None:
        depth += type(mode) is Mapping
        mode = mode.under
    return depth


def left(name: str, y: Array, dim: Dim, level: Level) -> Any:
    """A result of the function `name` outside of the level, the batch as dimension `dim`."""
    if dim is None:
        if isinstance(y, TensorBase) and is_mapped(y._array, level):
            raise errors.value_error(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None",
                "Say in out_dims where the batch shall appear.",
            )
        return lowered(y, level)
    if not isinstance(y, TensorBase):
        raise errors.value_error(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(y)}. Did "
            "you mean to set out_dims= to None for output?",
            "What is no tensor has no batch.",
        )
    axis = axis_of(dim, y.ndim + 1)
    if not is_inside(y._array, level):
        y = lift(y, level=level)
    return leave(y, axis=axis, level=level)


def lowered(y: Array, level: Level) -> Any:
    """A tensor that is the same for each member, outside of the level."""
    array = getattr(y, "_array", None)
    if type(array) is not Batched or array.level is not level:
        return y
    return leave(y, axis=0, level=level)[0]


def _in_chunks(
    run: Callable, places: Callable, dims: list, leaves: list, size: int, chunk: int, same: bool
) -> Any:
    """Some samples at a time, and their results one after the other."""
    parts: list[list] = []
    own: Any = None
    state = get_rng_state() if same else None
    for first in range(0, max(size, 1), chunk):
        n = min(chunk, size - first)
        some = [
            x if dim is None else x.narrow(dim, first, n)
            for x, dim in zip(leaves, dims, strict=True)
        ]
        if state is not None:  # the same numbers in every chunk
            set_rng_state(state)
        outs, own = flatten(run(some, n))
        parts.append(outs)
    joined = [
        column[0] if dim is None else cat(list(column), dim)
        for column, dim in zip(zip(*parts, strict=True), places(own), strict=True)
    ]
    return unflatten(joined, own)
