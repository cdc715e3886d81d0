"""Sums of many small results: computed in the rows of one array, and added up at once.

What a loop uses again and again gets a gradient from every round, `g = g0 * y0; g += g1 * y1; ...`.
Where the arrays are small, the calls cost more than their arithmetic: so what differs from round to
round is written into the rows of an array, and one product and one sum along the rows take the
place of all. NumPy adds rows of two elements or more in their order, so the bits are the same.
"""

from types import SimpleNamespace

import numpy as np

from tapegrad.arrays.traced.program import Constant, Instruction, Scalar, Value
from tapegrad.compiler.numpy_backend.block import Block, arguments, substituted
from tapegrad.compiler.numpy_backend.fold import own_roots
from tapegrad.compiler.numpy_backend.geometry import is_row_major, n_bytes, size_of
from tapegrad.core.annotations import Any

_FEW = 8  # terms below which it does not pay
_MOST = 1 << 17  # bytes of the rows, which have to stay in the cache
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_BINARY = ("np.multiply", "np.add", "np.subtract", "np.divide")


class Sum:
    """A sum written in place: `total = terms[0] + terms[1]; total += terms[2]; ...`.

    Attributes:
        adds: the instructions of these lines
        terms: the instructions that made what is added
    """

    def __init__(self, first: Instruction, terms: list[Instruction]):
        self.total, self.adds, self.terms = first.result, [first], terms


def stack(block: Block) -> None:
    """Compute the terms of long sums of small results in one call, and add them up in another."""
    for found in _sums(block):
        _Stacked(block, found).rewrite()


def _sums(block: Block) -> list[Sum]:
    """The long sums of small results of one function which nobody else reads."""
    is_term = _Terms(block)
    growing: dict[Value, Sum] = {}  # by their totals
    found = []
    for each in block.instructions:
        total, args = each.result, each.args
        if each.text == "np.add" and isinstance(total, Value):
            known = growing.get(total)
            if known is not None and args[0] is total and each.kwargs == {"out": total}:
                term = is_term.of(args[1], total)
                if term is not None and term.text == known.terms[0].text:
                    known.adds.append(each)
                    known.terms.append(term)
                    continue
            elif not each.kwargs and block.root(total) is total:
                terms = [x for x in [is_term.of(x, total) for x in args] if x is not None]
                if len(terms) == 2 and terms[0].text == terms[1].text:
                    growing[total] = Sum(each, terms)
                    continue
        for x in arguments(each):  # the sum is read or written to
            found.append(growing.pop(block.root(x), None))
    found += growing.values()
    return [
        x
        for x in found
        if x is not None and len(x.terms) >= _FEW and n_bytes(x.total) * len(x.terms) <= _MOST
    ]


class _Terms:
    """Finds the instructions whose results can be added up elsewhere."""

    def __init__(self, block: Block):
        self._block, self._own = block, own_roots(block)
        self._makers = {x.result: x for x in block.instructions if isinstance(x.result, Value)}
        self._times: dict[Value, int] = {}  # that a root is read
        for each in block.instructions:
            for x in arguments(each):
                root = block.root(x)
                self._times[root] = self._times.get(root, 0) + 1

    def of(self, x: Any, total: Value) -> Instruction | None:
        """The instruction that made a term of a total."""
        made = self._makers.get(x) if isinstance(x, Value) else None
        if made is None or made.text not in _BINARY or made.kwargs:
            return None
        if x in self._own or self._block.root(x) is not x or self._times[x] != 1:
            return None
        alike = x.dtype == total.dtype and x.shape == total.shape
        fits = alike and x.dtype in _FLOATS and size_of(x) > 1
        return made if fits and is_row_major(x) and is_row_major(total) else None


class _Stacked:
    """A sum that is rewritten."""

    def __init__(self, block: Block, found: Sum):
        self._block, self._sum = block, found
        self._own = own_roots(block)
        self._makers = {x.result: x for x in block.instructions if isinstance(x.result, Value)}
        self._moved: dict[Value, Value] = {}  # values, and the rows that they are written into
        self._first: dict[Instruction, list[Instruction]] = {}  # what goes before others
        self._instead: dict[Instruction, list[Instruction]] = {x: [] for x in found.terms}

    def rewrite(self) -> None:
        """Put a product and a sum in the place of the last line, unless it takes many copies."""
        columns = [[x.args[i] for x in self._sum.terms] for i in (0, 1)]
        if not all(self._is_one(xs) or self._are_alike(xs) for xs in columns):
            return
        each = [x for xs in columns if not self._is_one(xs) for x in xs]
        if len(each) - len({x for x in each if self._can_move(x)}) > len(columns[0]) // 2:
            return
        operands = [xs[0] if self._is_one(xs) else self._rows(xs) for xs in columns]
        last = self._sum.adds[-1]
        products = self._array(len(columns[0]))
        product = Instruction(self._sum.terms[0].text, tuple(operands), {}, products, last.line)
        total = Instruction("np.add.reduce", (products,), {"axis": 0}, self._sum.total, last.line)
        self._instead.update({x: [] for x in self._sum.adds})
        self._instead[last] = [product, total]
        self._block.functions.update({"np.add.reduce": np.add.reduce, "np.empty": np.empty})
        self._block.functions["np.positive"] = np.positive
        self._block.instructions = [
            new
            for each in self._block.instructions
            for new in (*self._first.get(each, ()), *self._instead.get(each, (each,)))
        ]
        for new in self._block.instructions:
            new.args = substituted(new.args, self._moved)

    def _is_one(self, xs: list) -> bool:
        """Whether an operand is the same in all terms."""
        x = xs[0]
        if isinstance(x, Value):
            return all(y is x for y in xs) and self._block.root(x) not in self._own
        if type(x) in (Constant, Scalar):
            return all(type(y) is type(x) and y.number == x.number for y in xs)
        return type(x) in (int, float) and all(
            type(y) is type(x) and repr(y) == repr(x) for y in xs
        )

    def _are_alike(self, xs: list) -> bool:
        total = self._sum.total
        return all(
            isinstance(x, Value) and x.dtype == total.dtype and x.shape == total.shape for x in xs
        )

    def _can_move(self, x: Value) -> bool:
        """Whether a value can be made in other memory than its own."""
        made = self._makers.get(x)
        if made is None or made.kwargs or x in self._own or self._block.root(x) is not x:
            return False
        function = self._block.functions.get(made.text)
        if not isinstance(function, np.ufunc) or function.nout > 1 or function.signature:
            return False
        return is_row_major(x) and not any(type(y) in (tuple, list) for y in made.args)

    def _rows(self, xs: list[Value]) -> Value:
        """An array of these values, each made in its row or copied there."""
        array = self._array(len(xs))
        starts = [Instruction("np.empty", (array.shape,), {}, array, None)]
        writers = set()
        for i, (x, term) in enumerate(zip(xs, self._sum.terms, strict=True)):
            row = Value(self._block.new_number(), self._sum.total)
            row.root, row.offset = array, i * n_bytes(x)
            starts.append(Instruction("getitem", (array, i), {}, row, None))
            if self._can_move(x) and x not in self._moved:
                made = self._makers[x]
                made.kwargs, made.result = {"out": row}, row
                self._block.move(x, row)
                self._moved[x] = row
                writers.add(made)
            else:
                copy = Instruction("np.positive", (x,), {"out": row}, row, term.line)
                self._instead[term].append(copy)
                writers.add(term)
        first = next(each for each in self._block.instructions if each in writers)
        self._first.setdefault(first, []).extend(starts)
        return array

    def _array(self, n: int) -> Value:
        """An array of as many rows."""
        like = self._sum.total
        strides = (n_bytes(like), *like.strides)
        shape = SimpleNamespace(shape=(n, *like.shape), strides=strides, dtype=like.dtype)
        return Value(self._block.new_number(), shape)
