"""Settings of PyTorch's fusing compilers, which are not here: they are kept and change nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

from tapegrad.core.annotations import Any
from tapegrad.core.errors import advised, runtime_error, value_error, warn
from tapegrad.jit._state import COMPILE, outdated

_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]
_onednn = False


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block in which PyTorch's optimiser of graphs would be on or off."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """A block in which PyTorch would use one of its fusing compilers, `fuser0` to `fuser3`.

    Raises: Exception for another name.
    """
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise advised(Exception(f"unrecognized fuser option (name: {name})"), "fuser0 ... fuser3")
    yield


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Keep how PyTorch's fuser would specialise on shapes; returns what was kept before.

    >>> before = torch.jit.set_fusion_strategy([("STATIC", 1)])
    >>> torch.jit.set_fusion_strategy(before)
    [('STATIC', 1)]
    """
    global _strategy
    outdated("set_fusion_strategy", COMPILE)
    for kind, _ in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise value_error(
                f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {kind}",
                "Pass pairs such as ('STATIC', 2).",
            )
    before, _strategy = _strategy, list(strategy)
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Keep whether PyTorch would fuse with oneDNN.

    >>> torch.jit.enable_onednn_fusion(False)
    """
    global _onednn
    _onednn = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """What `enable_onednn_fusion` was told last.

    >>> torch.jit.onednn_fusion_enabled()
    False
    """
    return _onednn


class strict_fusion:
    """A block in which PyTorch's compiler raises if it cannot fuse; of Python it only warns."""

    def __init__(self) -> None:
        warn("Only works in script mode")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def last_executed_optimized_graph() -> Any:
    """Raises RuntimeError: nothing optimises a graph here."""
    raise runtime_error(
        "There is no optimized graph: scripted functions run as the Python they are",
        "torch.jit.trace(function, example_inputs).graph shows the operators of one call.",
    )
