"""`DTensor`: a tensor of which this rank has a part, or all.

It is a tensor on this rank's memory, with the shape of the whole. What is done with it is in a
table (`rules`): there it is computed with the part, and the result is such a tensor again. Its
place in the graph is that of the part, and so is its gradient.
"""

from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.errors import advised, not_implemented, runtime_error, type_error
from tapegrad.core.size import from_shape
from tapegrad.core.tensor_base import SHARDED
from tapegrad.core.torch_function import undisturbed
from tapegrad.distributed import collectives
from tapegrad.distributed.device_mesh import DeviceMesh, _entered
from tapegrad.distributed.reduce_op import ReduceOp
from tapegrad.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
from tapegrad.distributed.tensor.redistribute import cut, redistributed
from tapegrad.operators.creation.legacy_constructor import retyped
from tapegrad.operators.shape.as_strided import alias
from tapegrad.tensors.tensor import Tensor


class DTensor(Tensor):
    """A tensor spread over the ranks of a mesh; `distribute_tensor` and `from_local` make one.

    Elementwise functions, sums, means, norms and writes in place compute with this rank's part,
    and gradients are spread as their tensors are. Functions that need parts of other ranks, such
    as `matmul`, raise: take `full_tensor()` for them. Random numbers are those that one process
    would draw for the whole tensor, of which each rank keeps its part, where PyTorch on CPUs draws
    every part from each rank's own generator.

    >>> import tapegrad.distributed as dist
    >>> from tapegrad.distributed.tensor import Shard, distribute_tensor
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> x = distribute_tensor(torch.ones(3, 2), mesh, [Shard(0)])
    >>> x.placements, x.shape, (x + x).full_tensor().sum()
    ((Shard(dim=0),), torch.Size([3, 2]), tensor(12.))
    >>> dist.destroy_process_group()
    """

    _mesh: DeviceMesh
    _placements: tuple[Placement, ...]
    _global: tuple[int, ...]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise type_error(
            "a DTensor is not made by its constructor",
            "DTensor.from_local and distribute_tensor make one.",
        )

    @classmethod
    def __torch_function__(
        cls, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """What the table of rules has for a function; an error where it has nothing."""
        from tapegrad.distributed.tensor import rules

        return rules.called(func, args, kwargs or {})

    @property
    def device_mesh(self) -> DeviceMesh:
        """The ranks that have the parts."""
        return self._mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where the parts are, for each dimension of the mesh."""
        return self._placements

    @property
    def _local_tensor(self) -> Tensor:
        """This rank's part, without history."""
        return undisturbed(Tensor.detach, self)

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Any = None,
        stride: tuple[int, ...] | None = None,
    ) -> "DTensor":
        """The tensor of which each rank has `local_tensor`; gradients flow to that.

        Args:
            device_mesh: The ranks; those of the block `with mesh:` if None.
            placements: For each dimension of the mesh; `Replicate()` if None.
            run_check: Take rank 0's numbers where a dimension replicates.
            shape, stride: Of the whole: needed where the parts are not equally long.
        """
        if isinstance(local_tensor, DTensor):
            raise runtime_error(
                "the local_tensor argument only accepts torch.Tensor but got "
                f"{type(local_tensor)} value.",
                "Give the part of this rank: x.to_local().",
            )
        mesh, placements = _given(device_mesh, placements, local_tensor.dim())
        if shape is None:
            found = list(local_tensor.shape)
            for i, placement in enumerate(placements):
                if isinstance(placement, Shard):
                    found[placement.dim] *= mesh.size(i)
            shape = found
        if run_check:
            for i, placement in enumerate(placements):
                if placement.is_replicate():
                    collectives.broadcast(local_tensor.data, group=mesh.get_group(i), group_src=0)
        return spread(alias(local_tensor), mesh, placements, shape)

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """This rank's part; a gradient that flows back is taken for the part of the gradient."""
        if grad_placements is not None and tuple(grad_placements) != self._placements:
            raise not_implemented(
                "tapegrad has no to_local(grad_placements=...) other than the tensor's own",
                "redistribute() the tensor before.",
            )
        return undisturbed(local, self)

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole tensor, on every rank."""
        return self.redistribute(placements=[Replicate()] * self._mesh.ndim).to_local(
            grad_placements=grad_placements
        )

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Any = None,
        backward_dtype: Any = None,
    ) -> "DTensor":
        """The same tensor under other placements, by collectives; gradients flow through them."""
        if placements is None:
            raise runtime_error(
                "placements is needed for redistribute!", "Give one for each dimension of the mesh."
            )
        if device_mesh is not None and device_mesh != self._mesh:
            raise not_implemented(
                "Cross device mesh comm not supported yet!",
                "Distribute the full_tensor() over the other mesh.",
            )
        if forward_dtype is not None or backward_dtype is not None:
            raise not_implemented(
                "tapegrad has no redistribute() in another dtype", "Convert the tensor before."
            )
        target = normalized(placements, len(self._global), self._mesh)
        if target == self._placements:
            return self
        return undisturbed(_moved, self, target)

    def _alike(self, part: Tensor) -> "DTensor":
        """A fresh plain tensor as a part of a whole that is spread as this one is."""
        return spread(part, self._mesh, self._placements, self._global)

    def _anywhere(self, flag: bool) -> bool:
        """Whether a flag is set on a rank of the mesh."""
        from tapegrad import tensor

        found = tensor([float(flag)])
        for group in self._mesh.get_all_groups():
            collectives.all_reduce(found, ReduceOp.MAX, group)
        return bool(found)

    def __repr__(self) -> str:
        part = undisturbed(local, self.detach())
        shown = format(part) if part.dim() == 0 else repr(part)
        return (
            f"DTensor(local_tensor={shown}, device_mesh={self._mesh}, "
            f"placements={self._placements})"
        )

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            found = self.detach().clone().requires_grad_(self.requires_grad)
            if "_is_param" in vars(self):
                found._is_param = True
            memo[id(self)] = found
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise not_implemented(
            "tapegrad does not pickle a DTensor",
            "Save its full_tensor(), or all of a model by torch.distributed.checkpoint.save.",
        )


DTensor.__module__ = "torch.distributed.tensor"
SHARDED.append(DTensor)


def local(x: Any) -> Any:
    """The part of this rank as a plain tensor in the place of the whole in the graph."""
    return retyped(alias(x), Tensor)


def _moved(x: Any, target: tuple) -> Any:
    part = redistributed(local(x), x._global, x._mesh, x._placements, target)
    return spread(part, x._mesh, target, x._global)


def spread(part: Any, mesh: DeviceMesh, placements: Sequence[Placement], shape: Any) -> Any:
    """A fresh plain tensor as the part of a whole of this shape."""
    part.__class__ = DTensor
    part._mesh, part._placements, part._global = mesh, tuple(placements), tuple(shape)
    return part


def shape_of(x: Any) -> Any:
    """The shape of the whole."""
    return from_shape(x._global)


def normalized(placements: Sequence[Placement], ndim: int, mesh: DeviceMesh) -> tuple:
    """Placements with dimensions counted from the front, checked."""
    if len(placements) != mesh.ndim:
        raise advised(
            ValueError(
                f"`placements` must have the same length as `device_mesh.ndim`! Found placements "
                f"length: {len(placements)}, and device_mesh.ndim: {mesh.ndim}."
            ),
            "Give one for each dimension of the mesh.",
        )
    found: list[Placement] = []
    for placement in placements:
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise advised(
                    IndexError(
                        "Dimension out of range (expected to be in range of "
                        f"[{-max(ndim, 1)}, {max(ndim, 1) - 1}], but got {placement.dim})"
                    ),
                    "A tensor is cut along a dimension that it has.",
                )
            if type(placement) is not Shard:
                raise not_implemented(
                    f"tapegrad has no placement {placement!r}", "Take Shard(dim) or Replicate()."
                )
            placement = Shard(placement.dim % ndim)
        found.append(placement)
    return tuple(found)


def _given(mesh: DeviceMesh | None, placements: Any, ndim: int) -> tuple[DeviceMesh, tuple]:
    if mesh is None and not _entered:
        raise runtime_error(
            "No device mesh is currently active!", "Give device_mesh=, or enter a mesh: with mesh:"
        )
    mesh = _entered[-1] if mesh is None else mesh
    placements = [Replicate()] * mesh.ndim if placements is None else placements
    return mesh, normalized(placements, ndim, mesh)


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """A whole tensor, cut into the parts of the ranks: a new leaf.

    Args:
        tensor: Of the same shape on every rank.
        src_data_rank: The rank along each dimension of the mesh whose numbers count; None: each
            rank takes its part of its own.
    """
    mesh, placements = _given(device_mesh, placements, tensor.dim())
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh or tensor.placements != placements:
            raise advised(
                ValueError(
                    f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} to a "
                    f"different device mesh {mesh}."
                    if tensor.device_mesh != mesh
                    else f"Cannot distribute a DTensor with placements {tensor.placements} to a "
                    f"different placements {placements}. do you want to call `redistribute` "
                    "instead?"
                ),
                "redistribute() moves it to other placements.",
            )
        return tensor
    if not tensor.is_leaf:
        raise runtime_error(
            "`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf "
            "tensor!",
            "DTensor.from_local keeps the history of the parts.",
        )
    part = tensor.detach()
    for i, placement in enumerate(placements):
        group = mesh.get_group(i)
        if src_data_rank is not None and group.size() > 1 and not part.is_meta:
            part = part.contiguous().clone()
            collectives.broadcast(part, group=group, group_src=src_data_rank)
        if isinstance(placement, Shard):
            part = cut(part, placement.dim, group)
        elif isinstance(placement, Partial):
            if placement.reduce_op != "sum":
                raise not_implemented(
                    f"tapegrad does not distribute to {placement!r}", "Take Partial()."
                )
            part = part / group.size()
    found = spread(part, mesh, placements, tensor.shape)
    return found.requires_grad_(tensor.requires_grad)


def distribute_module(
    module: Any,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable | None = None,
    input_fn: Callable | None = None,
    output_fn: Callable | None = None,
) -> Any:
    """Raises: layers do not compute with parts."""
    raise not_implemented(
        "tapegrad has no torch.distributed.tensor.distribute_module",
        "fully_shard spreads the parameters of a module, which it gathers to compute.",
    )
