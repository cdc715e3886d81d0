"""Tables of lines by name, in which names with the same lines share them."""

from collections import defaultdict


def grouped(found: dict[str, list[str]]) -> list[str]:
    """Before the lines of several names a line with these.

    >>> from tools.grouped import grouped
    >>> grouped({"sin": ["(Tensor x)"], "cos": ["(Tensor x)"], "pi": ["()"]})
    ['sin cos', '(Tensor x)', 'pi', '()']
    """
    names = defaultdict(list)
    for name, lines in found.items():
        names[tuple(lines)].append(name)
    return [line for lines, group in names.items() for line in (" ".join(group), *lines)]
