"""Warnings that a process is given once."""

import warnings

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.core import warn_once


@pytest.fixture
def fresh(monkeypatch):
    """A process that has been given no warning yet."""
    monkeypatch.setattr(warn_once, "_given", set())
    torch.set_warn_always(False)
    yield
    torch.set_warn_always(True)


SQUARE, CUBE, POINT = torch.eye(2), torch.zeros(2, 2, 2), torch.tensor(1.0)
PLACE, ONE = torch.tensor([[0], [0]]), torch.ones(1)
READ_ONLY = np.broadcast_to(np.ones(1), (2,))


@pytest.mark.parametrize(
    ("calls", "start"),
    [
        ([lambda: CUBE.T, lambda: ONE.T], "The use of `x.T` on tensors of dimension other than 2"),
        ([lambda: POINT.T], "Tensor.T is deprecated on 0-D tensors. This function is the ident"),
        ([lambda: POINT.mT], "Tensor.mT is deprecated on 0-D tensors. This function is the id"),
        ([lambda: POINT.H], "Tensor.H is deprecated on 0-D tensors. Consider using x.conj()."),
        ([lambda: POINT.mH], "Tensor.mH is deprecated on 0-D tensors. Consider using x.conj()."),
        ([lambda: POINT.adjoint(), lambda: torch.adjoint(POINT)], "adjoint() is deprecated on 0-"),
        ([lambda: torch.meshgrid(ONE, ONE)], "torch.meshgrid: in an upcoming release, it will be"),
        (
            [lambda: torch.tensor([np.ones(2)]), lambda: torch.as_tensor([np.ones(3)])],
            "Creating a tensor from a list of numpy.ndarrays is extremely slow.",
        ),
        ([lambda: torch.from_numpy(READ_ONLY)], "The given NumPy array is not writable, and PyTo"),
        (
            [lambda: torch.frombuffer(b"12", dtype=torch.uint8)],
            "The given buffer is not writable, and PyTorch does not support non-writable tensors.",
        ),
        (
            [lambda: ONE.to(torch.complex64).to(torch.float32)],
            "Casting complex values to real discards the imaginary part",
        ),
        (
            [lambda: torch.where(ONE.to(torch.uint8), ONE, ONE)],
            "where received a uint8 condition tensor. This behavior is deprecated",
        ),
        (
            [lambda: torch.add(ONE, 1, ONE), lambda: ONE.clone().add_(1, ONE)],
            "This overload of add is deprecated:",
        ),
        (
            [lambda: SQUARE.clone().requires_grad_().sum().backward(create_graph=True)],
            "Using backward() with create_graph=True will create a reference cycle",
        ),
        (
            [lambda: torch.sparse_coo_tensor(PLACE, ONE), lambda: torch.sparse_coo_tensor((2, 2))],
            "Sparse invariant checks are implicitly disabled.",
        ),
        (
            [lambda: torch.sparse.FloatTensor(2, 2), lambda: torch.sparse.FloatTensor(3)],
            "torch.sparse.SparseTensor(shape, *, device=) is deprecated.  Please use torch",
        ),
        (
            [lambda: torch.sparse.FloatTensor(PLACE, ONE, (2, 2))],
            "torch.sparse.SparseTensor(indices, values, shape, *, device=) is deprecated.",
        ),
        ([lambda: torch.cholesky(SQUARE)], "torch.cholesky is deprecated in favor of"),
    ],
)
def test_a_process_is_warned_once(fresh, monkeypatch, calls, start):
    monkeypatch.setattr("tapegrad.sparse.creation._chosen", [False])
    for always, n in ((False, 1), (False, 0), (True, len(calls))):
        torch.set_warn_always(always)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for call in calls:
                call()
        assert len(heard) == n and all(str(w.message).startswith(start[:20]) for w in heard)
        assert not n or str(heard[0].message).startswith(start)
        assert not n or heard[0].filename == __file__


def test_whoever_chooses_checks_of_sparse_tensors_is_not_warned(fresh, monkeypatch):
    monkeypatch.setattr("tapegrad.sparse.creation._chosen", [False])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.sparse_coo_tensor(PLACE, ONE, check_invariants=False)
        SQUARE.to_sparse()
        torch.sparse.check_sparse_tensor_invariants.disable()
        torch.sparse_coo_tensor(PLACE, ONE)


def test_set_warn_always_takes_a_truth_value():
    with pytest.raises(RuntimeError, match=r"^setWarnOnlyOnce expects a bool, but got int"):
        torch.set_warn_always(1)


def test_transposes_of_a_number_are_conjugate():
    z = torch.tensor(1j)
    with pytest.warns(UserWarning, match="is deprecated on 0-D tensors"):
        assert z.H.item() == z.mH.item() == -1j and z.mT.item() == z.T.item() == 1j
