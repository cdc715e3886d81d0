"""Freeing a deep graph without recursion, as in a browser."""

import sys
import weakref

import tapegrad as torch
from tapegrad.autograd import release
from tapegrad.autograd.node import PairNode, TupleNode


def n_frames():
    frame, n = sys._getframe(), 0
    while frame is not None:
        frame, n = frame.f_back, n + 1
    return n


def test_a_deep_graph_is_freed_in_few_frames(monkeypatch):
    for kind in (TupleNode, PairNode):
        finalize = release.release(kind.__slots__)
        monkeypatch.setattr(kind, "__del__", finalize, raising=False)
    x = torch.ones(2, requires_grad=True)
    y, nodes, depths = x, [], []
    for i in range(300):
        y = torch.stack([y * 2, y]).sum(0) if i % 3 else y.chunk(2)[0].exp().expand(2)
        nodes.append(weakref.ref(y.grad_fn, lambda _: depths.append(n_frames())))
    here = n_frames()
    del y
    assert len(depths) == 300 and max(depths) <= here + 4
    assert not release._waiting and not release._at_work
