"""The version under which `import torch` is served: a string that compares as versions do."""

import re

_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)[._-]?(?:(dev|a|b|rc|post)(\d*).*?)?(?:\+(.+))?")
_STAGES = ("dev", "a", "b", "rc", None, "post")


class TorchVersion(str):
    """A version such as `torch.__version__`, ordered by its numbers against strings and tuples.

    >>> from tapegrad.torch_version import TorchVersion
    >>> version = TorchVersion("2.13.0+tapegrad.0.2.0")
    >>> version >= "2.4", version >= (2, 14), version.split("+")[0]
    (True, False, '2.13.0')
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return _compare(self, other, str.__eq__)

    def __ne__(self, other):
        return _compare(self, other, str.__ne__)

    def __lt__(self, other):
        return _compare(self, other, str.__lt__)

    def __le__(self, other):
        return _compare(self, other, str.__le__)

    def __gt__(self, other):
        return _compare(self, other, str.__gt__)

    def __ge__(self, other):
        return _compare(self, other, str.__ge__)


def _compare(version, other, order):
    """`order` of two versions; of two plain strings where `other` is text but no version."""
    if isinstance(other, tuple | list):
        other = ".".join(map(str, other))
    if not isinstance(other, str):
        return NotImplemented
    a, b = _key(version), _key(other)
    if b is None:
        return order(str(version), str(other))
    # The relation of a to b, put to two strings that stand in it.
    return order(*(("a", "b") if a < b else ("b", "a") if a > b else ("a", "a")))


def _key(text):
    """What a version is ordered by: its numbers, its stage, its local part; None for other text."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    numbers, stage, count, local = match.groups()
    release = [int(number) for number in numbers.split(".")]
    while release and release[-1] == 0:
        release.pop()
    return release, _STAGES.index(stage), int(count or 0), local or ""
