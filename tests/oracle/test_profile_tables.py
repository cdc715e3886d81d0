"""The same events, summed and printed by PyTorch and by tapegrad: equal to the character."""

import random
import warnings

import pytest

from tapegrad.autograd import profiler_util as ours
from tests import needs

torch = needs.pytorch()

NAMES = (
    "aten::mul",
    "aten::mm",
    "my block",
    "x",
    *(c * n for c, n in zip("abcd", range(52, 56), strict=True)),
)
STACKS = (
    [],
    ["folder/file.py(3): f"],
    ["z" * 90 + ".py(1): g", "nn.Module: Linear_0", "x.py(2): h"],
)
SORTS = (
    *(None, "", "key", "nonsense", "count", "flops", "cpu_time", "cpu_time_total"),
    *("self_cpu_time_total", "cuda_time", "device_time_total", "cpu_memory_usage"),
    *("self_cpu_memory_usage", "self_cuda_memory_usage", "self_device_memory_usage"),
)


def fields_of_events(rng, stacks):
    found = []
    for i in range(rng.randint(0, 8)):
        start = rng.choice([0, rng.uniform(0, 1e4), rng.uniform(0, 1e7)])
        lasts = [0, 0.4, 999.9996, 1000, 1e6, rng.uniform(0, 900), rng.uniform(0, 5e7)]
        shapes = [[rng.randint(1, 1000)] * rng.randint(0, 4) for _ in range(rng.randint(0, 9))]
        fields = {
            "input_shapes": rng.choice([None, [], [[2, 3]], shapes]),
            "stack": rng.choice(STACKS) if stacks else [],
            "cpu_memory_usage": rng.choice([0, 4, -4, 1023, 1024, -1025, 10**6, 3 * 10**9]),
            "flops": rng.choice([0, 0, 1, 999, 1000, 12000, 10**7, 3 * 10**13, 10**16]),
            "is_user_annotation": rng.random() < 0.2,
            "sequence_nr": rng.choice([-1, i]),
            "fwd_thread": 0,
        }
        place = (i, rng.choice(NAMES), rng.choice([1, 1, 2]), start, start + rng.choice(lasts))
        found.append((place, fields))
    return found


def made(library, fields, options):
    events = [library.FunctionEvent(*place, **each) for place, each in fields]
    found = library.EventList(events, use_device=None, **options)
    found._build_tree()
    return found


def said(view, library, fields, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that names with `cuda` are old
        try:
            return view(made(library, fields, options))
        except Exception as error:
            return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("seed", range(60))
def test_sums_and_tables_are_those_of_pytorch(seed):
    rng = random.Random(seed)
    stacks = rng.random() < 0.5
    fields = fields_of_events(rng, stacks)
    # With stacks PyTorch prints the operations in the column of the stacks and the other way round.
    options = {"profile_memory": rng.random() < 0.5, "with_flops": not stacks}
    layout = {
        "sort_by": rng.choice(SORTS),
        "row_limit": rng.choice([-1, 0, 1, 3, 100]),
        "max_src_column_width": rng.choice([5, 20, 75]),
        "max_name_column_width": rng.choice([10, 20, 55, 100]),
        "max_shapes_column_width": rng.choice([5, 20, 80]),
        "header": rng.choice([None, "", "Head"]),
        "top_level_events_only": rng.random() < 0.3,
        "time_unit": rng.choice([None, "s", "ms", "us", "other"]),
    }
    grouping = rng.choice([(False, 0), (True, 0), (False, 2), (True, 1), (False, 0, True)])
    views = [
        lambda events: events.table(**layout),
        lambda events: events.key_averages(*grouping).table(**layout),
        lambda events: repr(list(events)),
        lambda events: repr(list(events.key_averages(*grouping))),
        lambda events: repr(events.total_average()),
        lambda events: str(events.self_cpu_time_total),
    ]
    for view in views:
        theirs = said(view, torch.autograd.profiler_util, fields, options)
        assert said(view, ours, fields, options) == theirs
