"""Traces in Perfetto's own parser: what its page would show."""

import contextvars
import gzip
import os
import threading

import pytest

import tapegrad as torch
from tapegrad.profiler import profile, record_function
from tests.profiler.perfetto_reader import perfetto

SPANS = """
    select s.name, s.category, t.tid, ifnull(t.is_main_thread, 0) as main, s.depth, s.dur
    from slice s join thread_track on s.track_id = thread_track.id join thread t using (utid)
    where s.category != 'cpu_instant_event' order by s.ts, s.depth
"""
MEMORY = """
    select count(*) as n, sum(a.int_value) as bytes from slice s join args a using (arg_set_id)
    where s.name = '[memory]' and a.key = 'args.Bytes'
"""
ARROWS = """
    select a.name as start, b.name as target
    from flow join slice a on slice_out = a.id join slice b on slice_in = b.id
    order by a.ts
"""
COUNTERS = """
    select t.name, min(value) as least, max(value) as most, count(*) as n
    from counter join counter_track t on track_id = t.id group by t.name
"""
LOST = "select name, value from stats where value > 0 and severity != 'info'"
EVALUATE = "autograd::engine::evaluate_function: "


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """A step of training, with the forward pass in a thread of its own."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())
    losses = []

    def forward():
        with record_function("forward"):
            losses.append(model(torch.ones(2, 4)).sum())

    with profile(record_shapes=True, profile_memory=True) as prof:
        thread = threading.Thread(target=contextvars.copy_context().run, args=(forward,))
        thread.start()
        thread.join()
        losses[0].backward()
    path = tmp_path_factory.mktemp("perfetto") / "trace.json"
    prof.export_chrome_trace(str(path))
    return path


@pytest.fixture(scope="module")
def reader(trace):
    with perfetto(trace) as reader:
        yield reader


def test_perfetto_shows_every_span_on_its_thread(reader):
    assert reader.query(LOST) == []
    spans = reader.query(SPANS)
    forward = [(name, depth) for name, _, _, main, depth, _ in spans if not main]
    backward = [(name, depth) for name, _, _, main, depth, _ in spans if main]
    assert forward[0] == ("forward", 0)
    assert [name for name, _ in forward if name in ("aten::addmm", "aten::tanh")] == [
        "aten::addmm",
        "aten::tanh",
    ]
    assert (EVALUATE + "TanhBackward0", 0) in backward and ("TanhBackward0", 1) in backward
    assert {tid for _, _, tid, main, _, _ in spans if main} == {os.getpid()}
    assert {category for _, category, _, _, _, _ in spans} == {"cpu_op", "user_annotation"}
    assert [span for span in spans if span[-1] <= 0] == []


def test_perfetto_draws_arrows_from_operators_to_their_nodes(reader):
    arrows = dict(reader.query(ARROWS))
    assert arrows["aten::tanh"] == "TanhBackward0"
    assert arrows["aten::addmm"] == "AddmmBackward0"
    assert len(arrows) == 4  # and the transposed weight, and the sum


def test_perfetto_draws_the_memory_that_is_held(reader):
    ((name, least, most, n),) = reader.query(COUNTERS)
    assert name.startswith("memory held")
    assert 0 <= least < most and n > 10
    assert reader.query(MEMORY)[0][0] == n - 1  # each array that came or went


def test_perfetto_reads_a_compressed_trace(trace, tmp_path):
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(trace.read_bytes()))
    with perfetto(path) as reader:
        assert reader.query("select count(*) as n from slice")[0][0] > 10


def test_perfetto_tells_what_is_wrong_with_a_trace(trace, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(trace.read_text().replace('"ph": "X"', '"ph": "?"'))
    with perfetto(path) as reader:
        assert reader.query(SPANS) == []
        assert reader.query(LOST) != []
