"""Where temporaries lie: one piece of memory for all, whose parts are used again."""

_ALIGNED = 64  # bytes: a line of the cache


class Arena:
    """Offsets in one piece of memory, handed out and taken back; `size` is what is needed."""

    def __init__(self) -> None:
        self.size = 0
        self._free: list[tuple[int, int]] = []  # offset and size, by offset

    def take(self, n_bytes: int) -> int:
        """The offset of the smallest free part that is large enough."""
        size = _rounded(n_bytes)
        fitting = [(n, offset) for offset, n in self._free if n >= size]
        if fitting:
            n, offset = min(fitting)
            self._free.remove((offset, n))
            if n > size:
                self._put(offset + size, n - size)
            return offset
        offset = self.size
        if self._free and sum(self._free[-1]) == self.size:  # the last part can grow
            offset = self._free.pop()[0]
        self.size = offset + size
        return offset

    def give_back(self, offset: int, n_bytes: int) -> None:
        """Say that a part is free again."""
        self._put(offset, _rounded(n_bytes))

    def _put(self, offset: int, size: int) -> None:
        parts: list[tuple[int, int]] = []
        for start, n in sorted([*self._free, (offset, size)]):
            if parts and sum(parts[-1]) == start:
                parts[-1] = parts[-1][0], parts[-1][1] + n
            else:
                parts.append((start, n))
        self._free = parts


def _rounded(n_bytes: int) -> int:
    return -(-max(n_bytes, 1) // _ALIGNED) * _ALIGNED
