"""The parameters of one module, spread over ranks by rows: gathered, let go, reduced."""

from collections.abc import Callable

import numpy as np

from tapegrad.autograd.mode import no_grad
from tapegrad.autograd.node import version_of
from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.errors import advised, not_implemented, runtime_error, value_error
from tapegrad.core.tensor_base import wrap
from tapegrad.distributed.fsdp.memory import Memory
from tapegrad.distributed.reduce_op import AllreduceOptions, ReduceOp, ReduceScatterOptions
from tapegrad.distributed.tensor.dtensor import DTensor, spread
from tapegrad.distributed.tensor.placement_types import Replicate, Shard
from tapegrad.distributed.tensor.redistribute import chunk_of, cut
from tapegrad.nn.parameter import Parameter


class Spread:
    """One parameter: where modules have it, and how its rows are spread.

    The part of a rank is the `DTensor` that the modules have while it is not gathered, whichever
    that is: an optimiser, `to_empty` and `load_state_dict(assign=True)` may have put another there.
    """

    def __init__(self, name: str, parameter: Any, places: list, mesh: Any) -> None:
        self.name, self.places, self.mesh = name, places, mesh
        self.shape = tuple(parameter.shape)
        self.group = mesh.get_group(mesh.ndim - 1)
        self.step, self.n = chunk_of(self.shape[0], self.group.size(), 0)[1], self.shape[0]
        self.rows = chunk_of(self.n, self.group.size(), self.group.rank())[1]
        self.placements = (*[Replicate()] * (mesh.ndim - 1), Shard(0))
        self.full: Any = None  # the whole parameter, once there is room for it
        self.room: Any = None  # its memory, with rows that make all parts equally long
        self.gathered_of: Any = None  # the memory of the part that was gathered, and its version
        self.of_replica: Any = None  # a gradient that is not reduced over the replicas yet
        part = spread(cut(parameter.detach(), 0, self.group), mesh, self.placements, self.shape)
        self.put(Parameter(part, parameter.requires_grad))

    @property
    def part(self) -> Any:
        """The part of this rank."""
        module, name = self.places[0]
        return module._parameters[name] if self._kept is None else self._kept

    def put(self, parameter: Any) -> None:
        """Let all modules that have the parameter have this."""
        self._kept: Any = None if isinstance(parameter, DTensor) else self.part
        for module, name in self.places:
            module._parameters[name] = parameter

    def checked(self) -> Any:
        """The part, if it is still one of the same tensor."""
        part = self.part
        if not isinstance(part, DTensor) or part._global != self.shape:
            raise runtime_error(
                f"the parameter {self.name} of a fully sharded module was replaced by "
                f"{type(part).__name__}",
                "A DTensor of the same shape and placements may take its place.",
            )
        if part.is_meta:
            raise advised(
                RuntimeError(
                    "FSDP parameters should be materialized from meta device before training, but "
                    f"the following were still on meta device: ['{self.name}']"
                ),
                "Call model.to_empty(device='cpu') and initialise the parameters.",
            )
        return part

    def is_stale(self) -> bool:
        """Whether the part was written since it was gathered."""
        array, version = self.gathered_of
        part = self.part
        return part._array is not array or version_of(part).value != version

    def gather(self, dtype: Any) -> Any:
        """Begin to fill the whole parameter with the parts of all ranks."""
        whole = self.part
        part = whole._array
        if self.gathered_of is not None and self.is_stale():
            version_of(self.full).value += 1
        self.gathered_of = part, version_of(whole).value
        if part.dtype != dtype or self.rows != self.step or not part.flags.c_contiguous:
            padded = np.zeros((self.step, *self.shape[1:]), dtype)
            padded[: self.rows] = part
            part = padded
        return self.group._allgather_base(wrap(self.room), wrap(part))

    def reduce(self, g: Any, dtype: Any, op: Any) -> Callable[[], Any]:
        """Begin to reduce a gradient; what is returned waits and gives this rank's part."""
        size = self.group.size()
        given = g._array
        if given.dtype != dtype or self.n != size * self.step or not given.flags.c_contiguous:
            padded = np.zeros((size * self.step, *self.shape[1:]), dtype)
            padded[: self.n] = given
            given = padded
        found = wrap(np.empty((self.step, *self.shape[1:]), dtype))
        options = ReduceScatterOptions()
        options.reduceOp = op
        work = self.group._reduce_scatter_base(found, wrap(given), options)

        def finish() -> Any:
            work.wait()
            return wrap(found._array[: self.rows])

        return finish


class ParamGroup:
    """The parameters that one call of `fully_shard` spreads."""

    def __init__(
        self,
        parameters: dict[str, tuple[Any, list]],
        mesh: Any,
        policy: Any,
        placement_of: Callable | None,
    ) -> None:
        self.mesh, self.policy = mesh, policy
        for name, (parameter, _) in parameters.items():
            _check(name, parameter, placement_of)
        self.spreads = [Spread(name, p, at, mesh) for name, (p, at) in parameters.items()]
        self.is_gathered = False
        self.syncs = True  # whether gradients are reduced
        self.all_reduces = True  # and over the replicas as well
        self.factor: float | None = None  # what the sum of gradients is divided by; None: the ranks
        self._works: list | None = None
        self._memory: Memory | None = None
        self._reducing: list[tuple[Spread, Callable[[], Any]]] = []

    # --- gathering --------------------------------------------------------------------------------

    def _prepare(self, dtypes: list) -> None:
        """Make room for the whole parameters."""
        rooms = [(x.step * x.group.size(), *x.shape[1:]) for x in self.spreads]
        self._memory = Memory(rooms, dtypes)
        for x, room in zip(self.spreads, self._memory.arrays, strict=True):
            x.room = room
            x.full = Parameter(wrap(room[: x.n]), x.part.requires_grad)
            x.full.register_post_accumulate_grad_hook(self._arrived)

    def _dtype_of(self, x: Spread) -> Any:
        wanted = self.policy.param_dtype
        return x.checked()._array.dtype if wanted is None else wanted.numpy

    def begin_gathering(self) -> None:
        """Begin to gather the parameters, unless they are there or on their way."""
        if self._works is not None:
            return
        if self.is_gathered:
            if not any(x.is_stale() for x in self.spreads):
                return
            self.release()
        dtypes = [self._dtype_of(x) for x in self.spreads]
        if self._memory is None or dtypes != [x.room.dtype for x in self.spreads]:
            self._prepare(dtypes)
        self._works = [x.gather(x.room.dtype) for x in self.spreads]

    def gather(self) -> None:
        """Let the modules have the whole parameters."""
        self.begin_gathering()
        if self._works is None:
            return
        works, self._works = self._works, None
        for work in works:
            work.wait()
        for x in self.spreads:
            if x.full.requires_grad is not x.part.requires_grad:
                x.full.requires_grad_(x.part.requires_grad)
            x.put(x.full)
        self.is_gathered = True

    def release(self) -> None:
        """Let the modules have the parts, and give the memory of the whole back."""
        if self._works is not None:
            self.gather()
        if self.is_gathered:
            for x in self.spreads:
                x.put(x.part)
            self._memory.release()  # type: ignore[union-attr]
            self.is_gathered = False

    def _arrived(self, parameter: Any) -> None:
        if not self.is_gathered:
            name = next(x.name for x in self.spreads if x.full is parameter)
            raise runtime_error(
                f"a gradient reached the parameter {name} while it was not gathered",
                "The backward pass went into the module by none of its outputs: return what is "
                "computed in it, in tensors, lists, tuples and dicts.",
            )

    # --- gradients --------------------------------------------------------------------------------

    def has_gradients(self) -> bool:
        """Whether gradients of whole parameters wait to be reduced."""
        return any(x.full is not None and x.full._grad is not None for x in self.spreads)

    def reduce(self) -> None:
        """Begin to reduce the gradients of the whole parameters."""
        op = ReduceOp.AVG if self.factor is None else ReduceOp.SUM
        for x in self.spreads:
            g = x.full._grad
            if g is None:
                continue
            x.full._grad = None
            wanted = self.policy.reduce_dtype
            dtype = g._array.dtype if wanted is None else wanted.numpy
            self._reducing.append((x, x.reduce(g, dtype, op)))

    def finish_reducing(self) -> None:
        """Add the reduced gradients to those of the parts."""
        reducing, self._reducing = self._reducing, []
        with no_grad():
            for x, finish in reducing:
                g = finish()
                if x.of_replica is not None:
                    g.add_(x.of_replica)
                    x.of_replica = None
                if self.mesh.ndim > 1 and not self.all_reduces:
                    x.of_replica = g
                    continue
                if self.mesh.ndim > 1:
                    options = AllreduceOptions()
                    options.reduceOp = ReduceOp.AVG if self.factor is None else ReduceOp.SUM
                    self.mesh.get_group(0).allreduce([g], options).wait()
                if self.factor is not None:
                    g = g / self.factor
                part = x.part
                g = g.to(part.dtype)
                if part._grad is None:
                    part._grad = part._alike(g)
                else:
                    part._grad.add_(part._alike(g))


def _check(name: str, parameter: Any, placement_of: Callable | None) -> None:
    if isinstance(parameter, DTensor):
        raise not_implemented(
            f"tapegrad does not spread the parameter {name}, which is a DTensor already",
            "Call fully_shard on a module whose parameters are whole.",
        )
    if parameter.dim() == 0:
        raise value_error(
            "fully_shard doesn't support scalar parameters. "
            f"Change {name} to a 1D tensor with numel equal to 1.",
            "Parameters are spread by rows.",
        )
    placement = None if placement_of is None else placement_of(parameter)
    if placement not in (None, Shard(0)):
        raise not_implemented(
            f"tapegrad has no fully_shard along {placement}", "Let shard_placement_fn give None."
        )


def parameters_of(modules: Sequence[Any], ignored: set) -> dict[str, tuple[Any, list]]:
    """The parameters of modules by name, each once, with all the places that have it."""
    found: dict[int, tuple[str, Any, list]] = {}
    for prefix, module in modules:
        for name, parameter in module._parameters.items():
            if parameter is not None and parameter not in ignored:
                path = f"{prefix}.{name}" if prefix else name
                found.setdefault(id(parameter), (path, parameter, []))[2].append((module, name))
    return {name: (parameter, places) for name, parameter, places in found.values()}
