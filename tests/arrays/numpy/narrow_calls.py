"""Calls that find places or take them; with `narrow` where NumPy's indices have 32 bits."""

import sys

from tests.arrays.numpy import narrow_numpy

if "narrow" in sys.argv:
    narrow_numpy.replace()

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn import functional as F

x = torch.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 4.0]])
rows = torch.tensor([1, 0, 1, 1])


def embedded():
    table = nn.Embedding(3, 2, scale_grad_by_freq=True, _weight=torch.ones(3, 2))
    table(rows).sum().backward()
    return table.weight.grad


def strided():
    part = x.clone().requires_grad_()
    part.expand(2, 2, 3).as_strided((2, 2), (1, 1)).sum().backward()
    return part.grad


def packed():
    lengths = torch.tensor([2, 1])
    sequence = nn.utils.rnn.pack_padded_sequence(x[..., None], lengths, batch_first=True)
    return nn.utils.rnn.pad_packed_sequence(sequence)[1]


def classified():
    logits = x.clone().requires_grad_()
    F.cross_entropy(logits, torch.tensor([0, 2]), weight=torch.ones(3)).backward()
    return (logits.grad * 1000).round().long()


CALLS = {
    "argmax": lambda: x.argmax(1),
    "argsort": lambda: x.argsort(1),
    "as_strided": strided,
    "bincount": lambda: torch.bincount(rows, minlength=3),
    "cross_entropy": classified,
    "embedding": embedded,
    "embedding_bag": lambda: F.embedding_bag(rows, x, torch.tensor([0, 1]), padding_idx=0),
    "gather": lambda: x.gather(1, torch.tensor([[2], [0]])),
    "histc": lambda: torch.histc(x, 2),
    "index_select": lambda: x.index_select(0, rows),
    "interpolate": lambda: F.interpolate(x[None], 5),
    "kthvalue": lambda: x.kthvalue(2).indices,
    "max_pool": lambda: F.max_pool1d(x[None], 2, 1, return_indices=True)[1],
    "nonzero": lambda: (x > 1).nonzero(),
    "pad_packed_sequence": packed,
    "repeat_interleave": lambda: x[0].repeat_interleave(torch.tensor([1, 0, 2])),
    "searchsorted": lambda: torch.searchsorted(torch.tensor([1.0, 2.0]), x),
    "sort": lambda: x.sort(1, stable=True).indices,
    "sparse": lambda: x.to_sparse_csr().crow_indices(),
    "take_along_dim": lambda: x.take_along_dim(x.argsort(1), 1),
    "topk": lambda: x.topk(2).indices,
    "unique": lambda: torch.unique(x, return_inverse=True)[1],
    "unique_consecutive": lambda: torch.unique_consecutive(rows, return_counts=True)[1],
}

for name, call in CALLS.items():
    made = call()
    print(name, str(made.dtype).removeprefix("torch."), made.tolist())
