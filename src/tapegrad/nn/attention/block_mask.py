"""Masks of attention in blocks: for each block of queries which blocks of keys it looks at."""

from itertools import product
from math import prod
from typing import Any, NoReturn

import tapegrad
from tapegrad.core.errors import assertion_error, runtime_error

__torch__ = ""

_LISTS = (
    *("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices"),
    *("q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices"),
)
_ORDERS = ("dq_write_order", "dq_write_order_full", "dq_kv_order", "dq_kv_order_spt")


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """True: every query sees every key.

    >>> torch.nn.attention.flex_attention.noop_mask(torch.tensor(0), 0, 0, 0)
    tensor(True)
    """
    return batch.new_ones(size=(), dtype=tapegrad.bool, device=batch.device)


def _of_sliced(batch: Any, head: Any, token_q: Any, token_kv: Any) -> NoReturn:
    raise runtime_error(
        "Cannot use mask_mod from a sliced BlockMask. When you slice a BlockMask using [], the "
        "mask_mod attribute is reset. You must set it from the original BlockMask's mask_mod.",
        "The function counts batches and heads of the whole: write one for the part.",
    )


class BlockMask:
    """A mask of attention that names blocks of `BLOCK_SIZE` queries by keys, those not empty.

    `kv_num_blocks` (B, H, rows) counts, for each row of blocks, those that are seen in part, and
    `kv_indices` (B, H, rows, columns) has their columns first; `full_kv_num_blocks` and
    `full_kv_indices` are those seen whole. `q_...` are the same by columns. `mask_mod(b, h, q, kv)`
    says which elements are seen. Made by `create_block_mask` or `from_kv_blocks`.

    >>> from tapegrad.nn.attention.flex_attention import create_block_mask
    >>> create_block_mask(lambda b, h, q, kv: q >= kv, 1, 1, 48, 48, BLOCK_SIZE=16)
    BlockMask(
        kv_num_blocks=torch.Size([1, 1, 3]),
        kv_indices=torch.Size([1, 1, 3, 3]),
        full_kv_num_blocks=torch.Size([1, 1, 3]),
        full_kv_indices=torch.Size([1, 1, 3, 3]),
        q_num_blocks=torch.Size([1, 1, 3]),
        q_indices=torch.Size([1, 1, 3, 3]),
        full_q_num_blocks=torch.Size([1, 1, 3]),
        full_q_indices=torch.Size([1, 1, 3, 3]),
        BLOCK_SIZE=(16, 16),
        shape=(1, 1, 48, 48),
        sparsity=33.33%,
        mask_mod=<lambda>
    )
    """

    seq_lengths: tuple[int, int]
    kv_num_blocks: Any
    kv_indices: Any
    full_kv_num_blocks: Any
    full_kv_indices: Any
    q_num_blocks: Any
    q_indices: Any
    full_q_num_blocks: Any
    full_q_indices: Any
    BLOCK_SIZE: tuple[int, int]
    mask_mod: Any

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any,
        full_kv_indices: Any,
        q_num_blocks: Any,
        q_indices: Any,
        full_q_num_blocks: Any,
        full_q_indices: Any,
        BLOCK_SIZE: tuple[int, int] = (128, 128),
        mask_mod: Any = noop_mask,
        *,
        dq_write_order: Any = None,
        dq_write_order_full: Any = None,
        dq_kv_order: Any = None,
        dq_kv_order_spt: bool | None = None,
    ) -> None:
        if kv_indices.dim() < 2:
            text = "BlockMask must have at least 2 dimensions"
            raise runtime_error(text, "Indices are (B, H, rows, columns).")
        for name, a, b in (
            ("full_kv", full_kv_num_blocks, full_kv_indices),
            ("q", q_num_blocks, q_indices),
            ("full_q", full_q_num_blocks, full_q_indices),
        ):
            if (a is None) != (b is None):
                raise assertion_error(
                    f"{name}_num_blocks and {name}_indices must be both provided or omitted",
                    "Counts say how many of the indices are meant.",
                )
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE, self.mask_mod = BLOCK_SIZE, mask_mod
        self.dq_write_order, self.dq_write_order_full = dq_write_order, dq_write_order_full
        self.dq_kv_order, self.dq_kv_order_spt = dq_kv_order, dq_kv_order_spt

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,
        mask_mod: Any = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
        **orders: Any,
    ) -> "BlockMask":
        """The mask of these rows of blocks; its columns are worked out from them.

        >>> n = torch.tensor([[[1, 2]]])
        >>> columns = torch.tensor([[[[0, 1], [0, 1]]]])
        >>> BlockMask = torch.nn.attention.flex_attention.BlockMask
        >>> BlockMask.from_kv_blocks(n, columns, BLOCK_SIZE=16).to_dense()
        tensor([[[[1, 0],
                  [1, 1]]]], dtype=torch.int32)
        """
        if kv_indices.dim() < 2:
            text = "BlockMask must have at least 2 dimensions"
            raise runtime_error(text, "Indices are (B, H, rows, columns).")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise assertion_error(
                "full_kv_num_blocks and full_kv_indices must be both provided or omitted",
                "Counts say how many of the indices are meant.",
            )
        by_columns: Any = [None] * 4
        if compute_q_blocks:
            by_columns[:2] = transposed(kv_num_blocks, kv_indices)
            if full_kv_indices is not None:
                by_columns[2:] = transposed(full_kv_num_blocks, full_kv_indices)
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        parts: Any = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        return cls(seq_lengths, *(*parts, *by_columns, size, mask_mod or noop_mask), **orders)

    # --- facts -----------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many pairs of query and key there are."""
        return prod(self.shape)

    def sparsity(self) -> float:
        """How much of the pairs lies in blocks that nobody computes, in percent."""
        seen = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            seen += int(self.full_kv_num_blocks.sum())
        computed = seen * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - computed / self.numel())

    def as_tuple(self, flatten: bool = True) -> tuple:
        """What the mask consists of, in the order of its arguments."""
        lengths = self.seq_lengths if flatten else (self.seq_lengths,)
        size = self.BLOCK_SIZE if flatten else (self.BLOCK_SIZE,)
        tensors = [getattr(self, name) for name in (*_LISTS, *_ORDERS)]
        return (*lengths, *tensors, *size, self.mask_mod)

    def to_dense(self) -> Any:
        """1 for each block that is not empty: (B, H, rows, columns), int32."""
        found = dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None:
            found = found + dense(self.full_kv_num_blocks, self.full_kv_indices)
        return found

    # --- parts and copies ------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> "BlockMask":
        """The mask of some batches, heads and rows of blocks; it keeps its four dimensions.

        Its `mask_mod` counts from the start of the whole mask: set one for the part.
        """
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in index[:3])
        parts: Any = [getattr(self, name) for name in _LISTS[:4]]
        parts = [None if x is None else x[index] for x in parts]
        return self.from_kv_blocks(
            *(*parts, self.BLOCK_SIZE, _of_sliced, self.seq_lengths, self.q_indices is not None)
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> "BlockMask":
        """The mask for other numbers of queries and keys, cut at the end."""
        lengths = (new_q_len, new_kv_len)
        rows = -(-new_q_len // self.BLOCK_SIZE[0])
        columns = -(-new_kv_len // self.BLOCK_SIZE[1])
        found: Any = []
        for n, indices in zip(_LISTS[:4:2], _LISTS[1:4:2], strict=True):
            n, indices = getattr(self, n), getattr(self, indices)
            if n is None:
                found += [None, None]
                continue
            whole = dense(n, indices)
            more = (0, max(columns - whole.shape[-1], 0), 0, max(rows - whole.shape[-2], 0))
            whole = tapegrad.nn.functional.pad(whole, more)
            found += ordered(whole[..., :rows, :columns])
        return self.from_kv_blocks(
            *(*found, self.BLOCK_SIZE, self.mask_mod, lengths, self.q_indices is not None)
        )

    def to(self, device: Any) -> "BlockMask":
        """The mask on another device."""
        parts = [getattr(self, name) for name in _LISTS]
        moved: Any = [None if x is None else x.to(device) for x in parts]
        return BlockMask(*(self.seq_lengths, *moved, self.BLOCK_SIZE, self.mask_mod))

    # --- printing --------------------------------------------------------------------------------

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of the first `limit` masks, of at most `grid_size` rows and columns; -1: all.

        Blocks are drawn full where they are computed, cells of several blocks grey where some are.
        """
        blocks = self.to_dense()
        *leading, rows, columns = blocks.shape
        if grid_size == -1:
            grid_size = (rows, columns)
        elif isinstance(grid_size, int):
            grid_size = (grid_size, grid_size)
        high = max(-(-rows // grid_size[0]), 1)
        wide = max(-(-columns // grid_size[1]), 1)
        found = []
        for n, index in enumerate(product(*map(range, leading))):
            if n >= limit:
                found.append(
                    "...\nTo print out more, set BlockMask.to_string(limit=N)\n"
                    "You can also index (BlockMask[batch, head]) to choose a specific batch or head"
                )
                break
            found.append(f"{index}\n{_picture(blocks[index].numpy(), high, wide)}")
        return "\n".join(found)

    def __str__(self) -> str:
        picture = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{picture}\n)"

    def __repr__(self) -> str:
        def shown(x: Any) -> Any:
            return x.shape if isinstance(x, tapegrad.Tensor) else x

        lines = [f"    {name}={shown(getattr(self, name))},\n" for name in (*_LISTS, "BLOCK_SIZE")]
        name = getattr(self.mask_mod, "__name__", self.mask_mod)
        return (
            f"BlockMask(\n{''.join(lines)}    shape={self.shape},\n"
            f"    sparsity={self.sparsity():.2f}%,\n    mask_mod={name}\n)"
        )


def _picture(blocks: Any, high: int, wide: int) -> str:
    lines = []
    for i in range(0, len(blocks), high):
        row = [blocks[i : i + high, j : j + wide].mean() for j in range(0, blocks.shape[1], wide)]
        lines.append("".join(["██" if x == 1 else "░░" if x else "  " for x in row]) + "\n")
    return "".join(lines)


# --- counts and indices, and what they stand for -------------------------------------------------


def ordered(blocks: Any) -> list:
    """For each row of blocks how many are set, and their columns, those first: int32."""
    indices = blocks.argsort(dim=-1, descending=True, stable=True)
    return [blocks.sum(-1).to(tapegrad.int32), indices.to(tapegrad.int32).contiguous()]


def dense(counts: Any, indices: Any) -> Any:
    """1 where a row of blocks has one: the inverse of `ordered`."""
    columns = indices.shape[-1]
    meant = tapegrad.arange(columns, device=indices.device) < counts[..., None]
    places = tapegrad.where(meant, indices.to(tapegrad.int64), columns)
    found = indices.new_zeros((*indices.shape[:-1], columns + 1), dtype=tapegrad.int32)
    return found.scatter(-1, places, 1)[..., :columns].contiguous()


def transposed(counts: Any, indices: Any) -> list:
    """The same blocks by columns."""
    return ordered(dense(counts, indices).transpose(-2, -1))
