"""`DeviceMesh`: ranks in a grid, whose rows and columns are groups."""

from math import prod

from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed import groups

__all__ = ["DeviceMesh", "init_device_mesh"]

_ALL_GROUPS = (
    "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
    "please use `get_all_groups()` instead."
)

_entered: list["DeviceMesh"] = []
"""The meshes in whose blocks the program is."""


class DeviceMesh:
    """Ranks in a grid, of which every line is a group: of a world of one, a grid of ones.

    >>> torch.distributed.init_process_group(
    ...     "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    ... )
    >>> mesh = torch.distributed.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    >>> mesh.size(), mesh["tp"].get_local_rank()
    (1, 0)
    >>> torch.distributed.destroy_process_group()
    """

    def __init__(
        self,
        device_type: str,
        mesh: Any,
        *,
        mesh_dim_names: Sequence[str] | None = None,
        _groups: Sequence | None = None,
        _root: "DeviceMesh | None" = None,
    ) -> None:
        from tapegrad import as_tensor, int32

        self.device_type = device_type
        self.mesh = as_tensor(mesh).to(int32)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        if not groups.is_initialized():
            groups.init_process_group()
        if self.mesh.numel() > groups.get_world_size():
            raise runtime_error(
                f"Mesh should not be bigger than default world size {groups.get_world_size()}, "
                f"but found {self.mesh.numel()} ranks!",
                "A mesh has each rank of the world at most once.",
            )
        self._groups = self._groups_along_dims() if _groups is None else list(_groups)
        self._root = self if _root is None else _root
        self._flattened: dict[str, DeviceMesh] = {}

    def _groups_along_dims(self) -> list:
        """This rank's group along each dimension; every rank makes all of them."""
        whole = self.ndim == 1 and self.mesh.numel() == groups.get_world_size()
        if whole or groups.get_world_size() == 1:
            return [groups._get_default_group()] * self.ndim  # as in PyTorch, not made anew
        found = []
        for dim, size in enumerate(self.shape):
            rows = self.mesh.movedim(dim, -1).reshape(-1, size).tolist()
            mine, _ = groups.new_subgroups_by_enumeration(rows)
            found.append(groups.GroupMember.NON_GROUP_MEMBER if mine is None else mine)
        return found

    def __repr__(self) -> str:
        if self.mesh_dim_names is None:
            shape = str(self.shape)
        else:
            pairs = zip(self.mesh_dim_names, self.shape, strict=True)
            shape = f"({', '.join(f'{n}={k}' for n, k in pairs)})"
        # As in PyTorch, a dimension of one rank has no stride.
        strides = zip(self.mesh.stride(), self.shape, strict=True)
        stride = tuple(() if k == 1 else step for step, k in strides)
        return f"DeviceMesh({shape}, '{self.device_type}', stride={stride})"

    def __enter__(self) -> "DeviceMesh":
        _entered.append(self)
        return self

    def __exit__(self, *_error: object) -> None:
        _entered.pop()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, DeviceMesh)
            and self.device_type == other.device_type
            and self.mesh_dim_names == other.mesh_dim_names
            and self.mesh.tolist() == other.mesh.tolist()
        )

    def __hash__(self) -> int:
        return hash((self.device_type, self.mesh_dim_names, self.shape))

    @property
    def ndim(self) -> int:
        """How many dimensions the grid has."""
        return self.mesh.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """How many ranks there are along each dimension."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many ranks there are, in all or along a dimension."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim]

    def _dim(self, dim: int | str | None, *more: str) -> int:
        if dim is None:
            if self.ndim > 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions",
                    "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
                    *more,
                )
            return 0
        if isinstance(dim, int):
            return dim
        if self.mesh_dim_names is None:
            raise KeyError("No `mesh_dim_names` found.")
        if dim not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{dim}' does not exist.",
                f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}",
            )
        return self.mesh_dim_names.index(dim)

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """The group of this rank's neighbours along a dimension."""
        return self._groups[self._dim(mesh_dim, _ALL_GROUPS)]

    def get_all_groups(self) -> list:
        """The groups of all dimensions."""
        return list(self._groups)

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """The number of this rank along a dimension."""
        return groups.get_rank(self._groups[self._dim(mesh_dim)])

    def get_rank(self) -> int:
        """The number of this process in the world."""
        return groups.get_rank()

    def get_coordinate(self) -> tuple[int, ...] | None:
        """The place of this rank in the grid; None if it is not there."""
        found = (self.mesh == groups.get_rank()).nonzero().tolist()
        return tuple(found[0]) if found else None

    def _is_current_rank_part_of_mesh(self) -> bool:
        """Whether this rank is in the grid."""
        return self.get_coordinate() is not None

    def _get_root_mesh(self) -> "DeviceMesh":
        """The grid that this one was cut out of; itself if it was not."""
        return self._root

    def __getitem__(self, names: str | Sequence[str]) -> "DeviceMesh":
        """The grid of some dimensions, by their names."""
        if self.mesh_dim_names is None:
            raise runtime_error(
                "Cannot slice a DeviceMesh without mesh_dim_names!",
                "Give mesh_dim_names= where the mesh is made.",
            )
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if wanted == self.mesh_dim_names:
            return self
        if len(wanted) == 1 and wanted[0] in self._flattened:
            return self._flattened[wanted[0]]
        if not set(wanted) <= set(self.mesh_dim_names):
            raise KeyError(
                f"Invalid mesh_dim_names {wanted} specified. "
                f"Valid mesh_dim_names are {[*self.mesh_dim_names, *self._flattened]}."
            )
        chosen = [self._dim(name) for name in wanted]
        place = self.get_coordinate() or (0,) * self.ndim
        index = tuple(slice(None) if i in chosen else place[i] for i in range(self.ndim))
        kept = sorted(chosen)  # the order in which the indexed mesh has them
        return DeviceMesh(
            self.device_type,
            self.mesh[index].permute([kept.index(i) for i in chosen]),
            mesh_dim_names=wanted,
            _groups=[self._groups[i] for i in chosen],
            _root=self._root,
        )

    def _flatten(self, mesh_dim_name: str | None = None) -> "DeviceMesh":
        """The grid as one dimension, which the grid it was cut out of knows by its name then."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ())
        ranks = self.mesh.flatten()
        whole = ranks.numel() == groups.get_world_size()
        flat = DeviceMesh(
            self.device_type,
            ranks,
            mesh_dim_names=(name,),
            _groups=[groups._get_default_group() if whole else groups.new_group(ranks.tolist())],
            _root=self._root,
        )
        self._root._flattened[name] = flat
        return flat

    @staticmethod
    def from_group(group: Any, device_type: str, mesh: Any = None, **names: Any) -> "DeviceMesh":
        """The grid of one dimension that a group is; of several, that which `mesh` says.

        Raises:
            ValueError: Several groups without a mesh, or one whose ranks are others.
        """
        if isinstance(group, (list, tuple)):
            if mesh is None:
                raise value_error(
                    "Must pass mesh if passing multiple ProcessGroups",
                    "A mesh says which ranks are neighbours.",
                )
            return DeviceMesh(device_type, mesh, _groups=group, **names)
        ranks = groups.get_process_group_ranks(group)
        if mesh is not None and [int(rank) for rank in mesh] != ranks:
            raise value_error(
                f"Invalid mesh {mesh} for ProcessGroup with ranks {ranks}",
                "Leave it out: the ranks of a group are known.",
            )
        return DeviceMesh(device_type, ranks, _groups=[group], **names)


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """A grid of all ranks, in their order.

    Raises:
        RuntimeError: The shape has more places than there are ranks, or names that do not fit.
    """
    from tapegrad import arange

    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) < len(mesh_dim_names):
            raise runtime_error(
                "Each mesh_dim_name must be unique. "
                f"Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}",
                "Dimensions are asked for by their names.",
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise runtime_error(
                "mesh_shape and mesh_dim_names should have same length! "
                f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):"
                f"{len(mesh_shape)}.",
                "Each dimension has a name.",
            )
    if not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    ranks = arange(prod(mesh_shape)).view(mesh_shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)


__getattr__ = _refuses(__name__)
