"""Tensors on the meta device: shapes, dtypes and strides without memory."""

import copy
import gc
import io
import tracemalloc

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.core.meta_array import MetaArray, strides_reshaped

NO_DATA = "Cannot copy out of meta tensor; no data!"


def meta(*shape, **options):
    return torch.empty(shape, device="meta", **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda **on: torch.empty(2, 3, **on),
        lambda **on: torch.zeros(2, 3, dtype=torch.int32, **on),
        lambda **on: torch.ones(2, 3, requires_grad=True, **on),
        lambda **on: torch.full((2, 3), True, **on),
        lambda **on: torch.eye(3, 4, **on),
        lambda **on: torch.arange(1, 9, 2, **on),
        lambda **on: torch.linspace(0, 1, 7, **on),
        lambda **on: torch.logspace(0, 1, 7, **on),
        lambda **on: torch.tensor([[1, 2], [3, 4]], **on),
        lambda **on: torch.as_tensor([1.5, 2], **on),
        lambda **on: torch.asarray([1.5, 2], **on),
        lambda **on: torch.as_tensor(np.ones(2), **on),
        lambda **on: torch.scalar_tensor(3, **on),
        lambda **on: torch.empty_strided((2, 3), (1, 2), **on),
        lambda **on: torch.empty_permuted((2, 3), (1, 0), **on),
        lambda **on: torch.empty(2, 3, 4, 5, memory_format=torch.channels_last, **on),
        lambda **on: torch.rand(2, 3, **on),
        lambda **on: torch.randn(2, 3, dtype=torch.float64, **on),
        lambda **on: torch.randint(5, (2,), **on),
        lambda **on: torch.randperm(5, **on),
        lambda **on: torch.normal(0.0, 1.0, (2, 2), **on),
        lambda **on: torch.hann_window(8, **on),
        lambda **on: torch.kaiser_window(8, **on),
        lambda **on: torch.fft.fftfreq(5, **on),
        lambda **on: torch.fft.rfftfreq(5, **on),
        lambda **on: torch.tril_indices(3, 3, **on),
        lambda **on: torch.zeros_like(torch.ones(3, 2).t(), **on),
        lambda **on: torch.rand_like(torch.ones(3, 2).t(), **on),
        lambda **on: torch.ones(2).new_zeros(3, 4, **on),
        lambda **on: torch.ones(2).new_tensor([3, 4], **on),
    ],
)
def test_factories_make_what_they_make_on_the_cpu_without_elements(make):
    expected, found = make(), make(device="meta")
    assert found.device == torch.device("meta") and found.is_meta and not found.is_cpu
    assert (found.shape, found.dtype, found.stride()) == (
        expected.shape,
        expected.dtype,
        expected.stride(),
    )
    assert found.requires_grad == expected.requires_grad


def test_factories_go_where_the_default_device_is():
    with torch.device("meta"):
        assert torch.ones(2).is_meta and torch.nn.Linear(2, 3).weight.is_meta
        assert torch.kaiser_window(5).is_meta and torch.fft.fftfreq(5).is_meta
        with torch.device("cpu"):
            assert torch.ones(2).is_cpu
        assert torch.ones(2, device="cpu").is_cpu
        like = torch.ones(2, device="cpu")
        assert torch.zeros_like(like).is_cpu and like.new_ones(2).is_cpu
    assert torch.ones(2).is_cpu
    assert torch.zeros_like(meta(2)).is_meta and meta(2).new_ones(3).is_meta
    assert torch.empty_like(meta(2), device="cpu").is_cpu


def test_a_large_program_takes_no_memory():
    gc.collect()
    a = meta(100_000, 100_000, requires_grad=True)
    layer = torch.nn.TransformerEncoderLayer(8192, 64, 32768, batch_first=True, device="meta")
    (a[:2] @ a).sum().backward()
    layer(meta(2, 4096, 8192)).sum().backward()
    a.grad = None
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    ((a @ a).softmax(-1).relu() + a.t()).sum().backward()
    out = layer(meta(2, 4096, 8192))
    out.sum().backward()
    x = torch.nn.functional.conv2d(meta(64, 512, 512, 512), meta(512, 512, 3, 3), padding=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert a.grad.shape == (100_000, 100_000) and out.shape == (2, 4096, 8192)
    assert x.shape == (64, 512, 512, 512)
    assert layer.linear1.weight.grad.is_meta
    assert peak - before < 300_000


def test_memory_is_shared_by_views_and_has_no_address():
    x = meta(4, 6)
    y = x[1:, ::2].t()
    assert (y.shape, y.stride(), y.storage_offset()) == ((3, 3), (2, 6), 6)
    assert y.untyped_storage() is x.untyped_storage()
    assert x.untyped_storage().nbytes() == 96 and x.data_ptr() == 0
    assert x.untyped_storage().device == torch.device("meta")
    assert y._base is x
    assert x.view(3, 8).stride() == (8, 1) and x.t().reshape(24).stride() == (1,)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        x.t().view(24)


@pytest.mark.parametrize(
    ("read", "error", "text"),
    [
        (lambda x: x.cpu(), NotImplementedError, NO_DATA),
        (lambda x: x.to("cpu"), NotImplementedError, NO_DATA),
        (lambda x: x.tolist(), NotImplementedError, NO_DATA),
        (lambda x: torch.ones(1).copy_(x), NotImplementedError, NO_DATA),
        (lambda x: x.item(), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (bool, RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (float, RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
        (lambda x: x.numpy(), TypeError, "can't convert meta device type tensor to numpy"),
        (np.asarray, TypeError, "can't convert meta device type tensor to numpy"),
        (lambda x: x.nonzero(), NotImplementedError, r"The register_meta function for torch.non"),
        (lambda x: x[x > 0], NotImplementedError, r"The register_meta function for torch.nonzero"),
        (lambda x: x.unique(), NotImplementedError, "aten::_unique2: attempted to run this oper"),
        (lambda x: torch.equal(x, x), NotImplementedError, "aten::equal: attempted to run this"),
        (lambda x: x + torch.ones(1), RuntimeError, "Tensor on device cpu is not on the expected"),
        (lambda x: torch.ones(1) + x, RuntimeError, "Tensor on device meta is not on the expect"),
        (lambda x: x.set_(torch.ones(1)), RuntimeError, "Attempted to set the storage of a tens"),
        (lambda x: x.share_memory_(), RuntimeError, "_share_fd_: only available on CPU"),
    ],
)
def test_elements_are_refused_in_pytorchs_words(read, error, text):
    with pytest.raises(error, match=text):
        read(meta(1))


def test_operators_without_a_rule_refuse_large_arrays_by_name():
    from tapegrad.arrays.meta.stand_in import computed

    rule = computed("something", lambda x: x.sum(0))
    assert rule(meta(3, 4)._array).shape == (4,)
    with pytest.raises(NotImplementedError, match="aten::something: attempted to run this operat"):
        rule(meta(300, 400)._array)


def test_a_number_of_the_cpu_and_indices_may_meet_meta():
    x = meta(3, 4)
    assert (x + torch.tensor(2.0)).is_meta and (2 * x).is_meta
    assert x[torch.tensor([0, 2])].shape == (2, 4)
    assert torch.nn.functional.embedding(torch.tensor([[0]]), x).shape == (1, 1, 4)


def test_printing_and_types():
    assert repr(meta(3, 4)) == "tensor(..., device='meta', size=(3, 4))"
    assert repr(meta(0)) == "tensor(..., device='meta', size=(0,))"
    x = meta(3, dtype=torch.int32)
    assert repr(x) == "tensor(..., device='meta', size=(3,), dtype=torch.int32)"
    assert repr(torch.nn.Parameter(meta(3))) == (
        "Parameter containing:\ntensor(..., device='meta', size=(3,), requires_grad=True)"
    )
    assert x.type() == "torch.meta.IntTensor"


def test_writes_in_place_check_shapes_and_count():
    x = meta(3, 4)
    x.normal_().add_(1).mul_(x).zero_().fill_(2).copy_(torch.ones(4))
    x[0] = 3
    x[:, 1] = meta(3)
    assert x._version == 8
    with pytest.raises(RuntimeError, match="The size of tensor"):
        x.add_(meta(5))
    torch.nn.init.kaiming_uniform_(x)
    torch.nn.init.orthogonal_(x)


def test_moving_a_module():
    layer = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    weight = layer[0].weight
    layer.to("meta")
    assert layer[0].weight is not weight and layer[0].weight.is_meta
    assert isinstance(layer[0].weight, torch.nn.Parameter) and layer[1].running_mean.is_meta
    with pytest.raises(NotImplementedError, match=r"Please use torch.nn.Module.to_empty"):
        layer.to("cpu")
    layer.to_empty(device="cpu")
    assert layer[0].weight.is_cpu and layer[0].weight.requires_grad
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        layer[0].weight.data = meta(3, 2)


def test_a_state_is_assigned_to_a_module_without_elements():
    state = torch.nn.Linear(2, 3).state_dict()
    layer = torch.nn.Linear(2, 3, device="meta")
    with pytest.warns(UserWarning, match="copying from a non-meta parameter") as caught:
        layer.load_state_dict(state)
    assert [str(each.message)[:11] for each in caught] == ["for weight:", "for bias: c"]
    assert layer.weight.is_meta
    layer.load_state_dict(state, assign=True)
    assert layer.weight.is_cpu and torch.equal(layer.weight, state["weight"])
    assert layer(torch.ones(1, 2)).shape == (1, 3)


def test_a_file_is_loaded_without_its_elements():
    file = io.BytesIO()
    torch.save({"x": torch.ones(3, 4)[1:]}, file)
    file.seek(0)
    found = torch.load(file, map_location="meta")["x"]
    assert found.is_meta and found.shape == (2, 4) and found.storage_offset() == 4


def test_copies():
    x = meta(3, 4, requires_grad=True)
    y, z = copy.deepcopy([x, x.detach()[1:]])
    assert y.is_meta and y.requires_grad and z.shape == (2, 4)
    assert y.untyped_storage() is z.untyped_storage() is not x.untyped_storage()


def test_conjugate_views():
    x = meta(2, 3, dtype=torch.complex64)
    assert x.conj().is_conj() and x.conj().is_meta and (x.conj() * x).is_meta
    assert x.conj().imag.is_neg() and (x.conj().imag + 1).is_meta


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("new", [(24,), (6, 4), (2, 3, 4), (4, 6), (2, 1, 12), (12, 2), (3, 8)])
def test_reshaping_is_a_view_where_numpy_has_one(order, new):
    x = np.zeros((2, 3, 4), np.float32).transpose(order)
    expected = x.reshape(new)
    found = strides_reshaped(x.shape, x.strides, 4, new)
    if np.may_share_memory(expected, x):
        assert found == expected.strides
    else:
        assert found is None


def test_elements_never_leave_a_meta_array():
    array = meta(2)._array
    assert type(array) is MetaArray and not isinstance(array, np.ndarray)
    assert not hasattr(array, "__array_interface__")
    with pytest.raises(TypeError):
        np.frombuffer(array)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2,
        lambda x: x.sum() + x.max(),
        lambda x: x.softmax(0) @ x,
        lambda x: torch.cat([x, x.exp()]),
        lambda x: x[1:].reshape(-1, 1) + x.reshape(-1),
    ],
)
def test_batches_of_meta_arrays_have_the_shapes_of_batches(function):
    x, y = torch.ones(4, 4), meta(4, 4)
    found = torch.vmap(function)(y)
    assert found.is_meta and found.shape == torch.vmap(function)(x).shape
    for transform in (torch.func.jacrev, torch.func.jacfwd):
        with pytest.raises(NotImplementedError, match="tensors on the meta device have no Jacob"):
            transform(function)(y)
