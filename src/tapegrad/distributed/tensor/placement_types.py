"""Where the parts of a distributed tensor are."""

from dataclasses import dataclass


class Placement:
    """How a tensor lies along one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each rank has a part, along `dim` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each rank has all."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the reduction over the ranks is what is meant."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each rank has a part along a dimension."""

    dim: int

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True, repr=False)
class _StridedShard(Shard):
    """Each rank has a part, and those were parts of parts."""

    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Each rank has all."""

    def __repr__(self) -> str:
        return "Replicate()"

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """What is meant is the reduction of what the ranks have."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


@dataclass(frozen=True, repr=False)
class _NormPartial(Partial):
    """What is meant is the norm of the norms that the ranks have."""

    norm_type: int | float | str = 2

    def __repr__(self) -> str:
        return f"_NormPartial({self.norm_type})"
