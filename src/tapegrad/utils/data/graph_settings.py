"""Settings of all pipes that a pipe takes its samples from: parts, order, seeds."""

import inspect
from typing import Any

from tapegrad.core.errors import warn
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES, _ShardingIterDataPipe
from tapegrad.utils.data.graph import traverse_dps

__all__ = [
    "apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings",
    "get_all_graph_pipes",
]  # fmt: skip


def get_all_graph_pipes(graph: Any) -> list[Any]:
    """The pipes of what `traverse_dps` gives, each once."""
    found: dict[int, Any] = {}

    def visit(graph: Any) -> None:
        for number, (pipe, inner) in graph.items():
            if number not in found:
                found[number] = pipe
                visit(inner)

    visit(graph)
    return list(found.values())


def apply_sharding(
    datapipe: Any,
    num_of_instances: int,
    instance_id: int,
    sharding_group: SHARDING_PRIORITIES = SHARDING_PRIORITIES.DEFAULT,
) -> Any:
    """Let every `sharding_filter` give part `instance_id` of so many; returns `datapipe`.

    Raises: RuntimeError where one filter follows another.
    """

    def visit(graph: Any, before: Any) -> None:
        for pipe, inner in graph.values():
            mine = None
            if isinstance(pipe, _ShardingIterDataPipe):
                if before is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause "
                        f"data loss. Sharding already applied to {before} while trying to apply to "
                        f"{pipe}"
                    )
                pipe.apply_sharding(num_of_instances, instance_id, sharding_group)
                mine = pipe
            elif hasattr(type(pipe), "apply_sharding"):
                n = len(inspect.signature(pipe.apply_sharding).parameters)
                given = (num_of_instances, instance_id, sharding_group)
                pipe.apply_sharding(*given[: 3 if n >= 3 else 2])
                mine = pipe
            visit(inner, mine or before)

    visit(traverse_dps(datapipe), None)
    return datapipe


def _shuffles(pipe: Any) -> bool:
    kind = type(pipe)
    return hasattr(kind, "set_shuffle") and hasattr(kind, "set_seed")


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Switch every `shuffle` on or off; where there is none and it shall be on, add one at the end.

    Returns the pipe, which is another one where a step was added.
    """
    if shuffle is None:
        return datapipe
    shufflers = [p for p in get_all_graph_pipes(traverse_dps(datapipe)) if _shuffles(p)]
    if not shufflers and shuffle:
        warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at "
            "the end. Be aware that the default buffer size might not be sufficient for your task."
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for each in shufflers:
        each.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe: Any, rng: Any) -> Any:
    """The old name of `apply_random_seed`."""
    from tapegrad.core.errors import deprecated

    deprecated(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. "
        "Please use `apply_random_seed` instead."
    )
    return apply_random_seed(datapipe, rng)


def apply_random_seed(datapipe: Any, rng: Any) -> Any:
    """Give every pipe that has `set_seed` a seed drawn from a generator; returns `datapipe`."""
    import tapegrad as torch

    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if hasattr(type(pipe), "set_seed"):
            pipe.set_seed(int(torch.empty((), dtype=torch.int64).random_(generator=rng).item()))
    return datapipe


__getattr__ = _refuses(__name__)
