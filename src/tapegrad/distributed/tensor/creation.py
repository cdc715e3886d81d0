"""`zeros`, `rand` and their kin: whole tensors, of which each rank makes its part."""

from tapegrad.core.annotations import Any, Sequence
from tapegrad.distributed.device_mesh import DeviceMesh
from tapegrad.distributed.tensor._utils import compute_local_shape_and_global_offset
from tapegrad.distributed.tensor.dtensor import DTensor, _given, cut, spread
from tapegrad.distributed.tensor.placement_types import Placement, Shard


def _shape(size: tuple) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)


def _filled(name: str) -> Any:
    def make(
        *size: Any,
        dtype: Any = None,
        layout: Any = None,
        requires_grad: bool = False,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        **given: Any,
    ) -> DTensor:
        import tapegrad

        shape = _shape(size)
        mesh, placements = _given(device_mesh, placements, len(shape))
        part, _ = compute_local_shape_and_global_offset(shape, mesh, placements)
        values = (given.pop("fill_value"),) if name == "full" else ()
        made = getattr(tapegrad, name)(part, *values, dtype=dtype, **given)
        return spread(made, mesh, placements, shape).requires_grad_(requires_grad)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"`torch.{name}` of a whole, of which each rank makes its part."
    return make


empty, ones, zeros, _full = map(_filled, ("empty", "ones", "zeros", "full"))


def full(size: Any, fill_value: Any, **options: Any) -> DTensor:
    """`torch.full` of a whole, of which each rank makes its part."""
    return _full(size, fill_value=fill_value, **options)


def _drawn(name: str) -> Any:
    def make(
        *size: Any,
        requires_grad: bool = False,
        dtype: Any = None,
        layout: Any = None,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        import tapegrad

        shape = _shape(size)
        mesh, placements = _given(device_mesh, placements, len(shape))
        part = getattr(tapegrad, name)(shape, dtype=dtype)
        for i, placement in enumerate(placements):
            if isinstance(placement, Shard):
                part = cut(part, placement.dim, mesh.get_group(i))
        return spread(part, mesh, placements, shape).requires_grad_(requires_grad)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Each rank's part of what `torch.{name}` draws in one process."
    return make


rand, randn = map(_drawn, ("rand", "randn"))
