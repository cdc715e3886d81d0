"""What stands for values inside of a chain: parts of large arrays, and spare blocks."""

from tapegrad.arrays.traced.program import Value
from tapegrad.compiler.numpy_backend.block import Block, values_in
from tapegrad.compiler.numpy_backend.chains import Chain
from tapegrad.compiler.numpy_backend.geometry import size_of
from tapegrad.compiler.numpy_backend.layout import Layout
from tapegrad.compiler.numpy_backend.naming import Names
from tapegrad.core.annotations import Any


class BlockNames:
    """The memory of a chain.

    Attributes:
        spares: the dtypes of the spare blocks, used again when their last reader has run
        size: how many elements each pass goes over
    """

    def __init__(self, block: Block, layout: Layout, chain: Chain):
        self._block = block
        self._whole = {block.root(x): x for x in chain.whole if isinstance(x, Value)}
        self._rows = set(chain.rows)
        self._spare: dict[Value, int] = {}
        self.spares: list[Any] = []
        self.size = size_of(chain.instructions[0].result)
        last: dict[Value, int] = {}
        for i, each in enumerate(chain.instructions):
            for x in values_in((layout.forms[each].operands, each.result)):
                last[block.root(x)] = i
        temporaries, free = set(chain.temporaries), []
        for i, each in enumerate(chain.instructions):
            form = layout.forms[each]
            roots = {block.root(x) for x in values_in((form.operands, each.result))}
            dying = [self._spare[x] for x in roots if x in self._spare and last[x] == i]
            free += dying * form.pointwise
            root = block.root(each.result)
            if root in temporaries and root not in self._spare:
                self._spare[root] = self._take(free, each.result.dtype)
                if last[root] == i:
                    free.append(self._spare[root])
            free += [] if form.pointwise else dying

    def _take(self, free: list[int], dtype: Any) -> int:
        for i in free:
            if self.spares[i] == dtype:
                free.remove(i)
                return i
        self.spares.append(dtype)
        return len(self.spares) - 1

    def name(self, x: Value, names: Names) -> str:
        """The name of a large value inside of the chain."""
        root = self._block.root(x)
        if x in self._rows:
            return names.value(x)
        if root in self._spare:
            found, dtype = f"spare{self._spare[root]}", self.spares[self._spare[root]]
        else:
            found, dtype = names.value(self._whole[root]), self._whole[root].dtype
        return found if dtype == x.dtype else f"{found}.view({names.text(x.dtype)})"
