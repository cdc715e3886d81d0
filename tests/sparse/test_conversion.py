"""Sparse tensors written, copied, and in the state of modules."""

import copy
import io
import pickle

import pytest

import tapegrad as torch

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch warns once in a process


def example(module):
    values = module.tensor([3.0, 4.0, 5.0])
    return module.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], values, (2, 3)).coalesce()


def test_a_file_is_read_by_either_side(pytorch):
    for writer, reader in ((torch, torch), (torch, pytorch), (pytorch, torch)):
        file = io.BytesIO()
        writer.save({"x": example(writer), "y": writer.ones(2)}, file)
        file.seek(0)
        found = reader.load(file)["x"]
        assert repr(found) == repr(example(reader))
        assert found.is_coalesced()


def test_a_file_that_names_no_place_of_the_tensor_is_refused():
    x = torch.sparse_coo_tensor([[7]], [1.0], (3,))
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    try:
        torch.load(file)
    except RuntimeError as error:
        assert "size is 3 but found index 7" in str(error)
    else:
        raise AssertionError("an index beyond the size was read")


def test_copies_have_memory_of_their_own():
    x = example(torch).requires_grad_()
    torch.sparse.sum(x).backward()
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone().detach()):
        with torch.no_grad():
            other.mul_(2)
        assert x.values().tolist() == [3.0, 4.0, 5.0]
    assert copy.deepcopy(x).grad.values().tolist() == [1.0, 1.0, 1.0]
    assert copy.deepcopy(x).requires_grad and copy.deepcopy(x).is_leaf


def test_a_buffer_is_converted_saved_and_loaded():
    def module():
        found = torch.nn.Linear(2, 2)
        found.register_buffer("graph", example(torch))
        return found

    first = module()
    assert first.double().graph.dtype is torch.float64
    second = module().double()
    with torch.no_grad():
        second.graph.mul_(0)
    second.load_state_dict(first.state_dict())
    assert torch.equal(second.graph.to_dense(), first.graph.to_dense())
