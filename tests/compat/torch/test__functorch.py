"""`torch.func` under the names of its files."""

import pytest

import tapegrad as torch
from tapegrad.compat.torch import _vmap_internals, classes
from tapegrad.compat.torch._functorch import apis, config, eager_transforms, make_functional, vmap
from tests.messages import raises


def test_functions_are_those_of_torch_func():
    assert apis.vmap is vmap.vmap is torch.vmap and apis.grad is torch.func.grad
    assert eager_transforms.jacrev is torch.func.jacrev
    assert torch._functorch.functional_call.functional_call is torch.func.functional_call
    assert make_functional.make_functional.__name__ == "make_functional"
    x = torch.arange(10.0).view(5, 2)
    assert torch.equal(apis.chunk_vmap(torch.sum, chunks=3)(x), x.sum(1))
    assert config.donated_buffer is True
    with config.patch(donated_buffer=False):
        assert config.donated_buffer is False


def test_the_old_place_of_vmap_warns():
    with pytest.warns(
        FutureWarning, match=r"Please use `torch\.vmap` instead of `torch\._vmap_int"
    ):
        assert _vmap_internals.vmap(torch.sin)(torch.zeros(2)).tolist() == [0.0, 0.0]
    assert _vmap_internals._vmap(torch.sin)(torch.zeros(2)).tolist() == [0.0, 0.0]


def test_there_are_no_compiled_classes():
    text = (
        "Tried to instantiate class 'space.Name', but it does not exist! "
        "Ensure that it is registered via torch::class_"
    )
    with raises(RuntimeError, text):
        torch.classes.space.Name  # noqa: B018
    with raises(OSError, "Could not load this library: /there.so"):
        classes.load_library("/there.so")


def test_a_batch_dimension_is_added_and_removed_by_the_number_of_its_vmap():
    from tapegrad.compat.torch._C import _functorch
    from tapegrad.compat.torch._functorch.vmap import _maybe_remove_batch_dim

    table = torch.arange(6.0).reshape(2, 3)
    seen = []

    def function(x):
        level = _functorch.maybe_current_level()
        inside = _functorch._add_batch_dim(table, 1, level)
        product = x * inside.sum()
        seen.append(_functorch._remove_batch_dim(product, level, 3, 0))
        seen.append(_maybe_remove_batch_dim("function", inside, level, 3, -1))
        return product

    result = torch.vmap(function)(torch.ones(3))
    assert result.tolist() == seen[0].tolist() == table.sum(0).tolist()
    assert torch.equal(seen[1], table)
    assert vmap._get_name(function) == "function"
    assert vmap._remove_batch_dim is _functorch._remove_batch_dim
    with pytest.raises(RuntimeError, match="vmap level 1 is not there"):
        _functorch._add_batch_dim(table, 0, 1)


class Box:
    """A container that no tree of tensors is."""

    def __init__(self, x):
        self.x = x


def test_steps_of_vmap_may_be_replaced(monkeypatch):
    def process(in_dims, args, func):
        return len(args[0].x), [in_dims], list(args), "structure"

    def create(dims, leaves, level, structure):
        assert structure == "structure"
        return [Box(vmap._add_batch_dim(leaves[0].x, dims[0], level))]

    def unwrap(result, out_dims, level, size, func):
        return Box(vmap._remove_batch_dim(result.x, level, size, out_dims))

    def function(box):
        assert box.x.shape == (3,)
        return Box(box.x * box.x.sum())

    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    monkeypatch.setattr(vmap, "_process_batched_inputs", process, raising=False)
    monkeypatch.setattr(vmap, "_create_batched_inputs", create, raising=False)
    monkeypatch.setattr(vmap, "_unwrap_batched", unwrap, raising=False)
    found = torch.vmap(function)(Box(x)).x
    assert torch.equal(found, x * x.sum(1, keepdim=True))
    found.sum().backward()
    assert torch.equal(x.grad, (2 * x.detach().sum(1, keepdim=True)).expand(2, 3))
    monkeypatch.undo()
    assert torch.vmap(torch.sum)(x).shape == (2,)
