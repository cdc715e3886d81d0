"""The names of operators in PyTorch's dispatcher."""

import tapegrad as torch
from tests.messages import raises

aten = torch.ops.aten


def test_names_print_as_in_pytorch():
    assert repr(aten.mm) == "<OpOverloadPacket(op='aten.mm')>"
    assert repr(aten.mm.default) == "<OpOverload(op='aten.mm', overload='default')>"
    assert (str(aten.mm), str(aten.add.Tensor)) == ("aten.mm", "aten.add.Tensor")
    assert (aten.mm.default.name(), aten.add.Tensor.name()) == ("aten::mm", "aten::add.Tensor")
    assert aten.mm.default.namespace == "aten"
    assert aten.sum.overloads() == ["dim_IntList", "default", "IntList_out", "out"]


def test_a_name_is_always_the_same_object():
    assert aten.mm.default is torch.ops.aten.mm.default
    assert aten.mm.default.overloadpacket is aten.mm
    assert aten.mm.default in {aten.mm.default} and aten.mm.default != aten.mv.default


def test_overloads_and_packets_are_called():
    x = torch.tensor([1.0, -2.0])
    assert aten.relu.default(x).tolist() == aten.relu(x).tolist() == [1, 0]
    assert aten.add.Tensor(x, x, alpha=2).tolist() == [3, -6]
    with raises(NotImplementedError, "torch.ops.aten._scaled_mm cannot be called in tapegrad"):
        aten._scaled_mm.default(x, x)


def test_unknown_names_are_errors():
    with raises(AttributeError, "'_OpNamespace' 'aten' object has no attribute 'foo'"):
        aten.foo  # noqa: B018
    with raises(AttributeError, "The underlying op of 'aten.mm' has no overload name 'foo'"):
        aten.mm.foo  # noqa: B018
    assert "mm" in dir(aten)


def test_overloads_that_lists_of_operators_name():
    x = torch.tensor([1.0, 2.0])
    assert aten.mul.Scalar(x, 2).tolist() == [2, 4]
    assert aten.sub.Scalar(x, 1).tolist() == [0, 1]
    assert aten.to.dtype(x, torch.float64).dtype == torch.float64
    assert aten.searchsorted.Tensor(x, torch.tensor([1.5])).tolist() == [1]
    assert str(aten.to.dtype_layout) == "aten.to.dtype_layout"
    assert aten.randint.low(3, 4, (2,)).tolist() == [3, 3]
    with raises(NotImplementedError, "torch.ops.aten._linalg_det cannot be called in tapegrad"):
        aten._linalg_det.default(torch.eye(2))


def test_operators_without_a_public_function_can_be_called():
    aten = torch.ops.aten
    x = torch.arange(4.0)
    assert aten.slice.Tensor(x, 0, 1, 3).tolist() == [1.0, 2.0]
    assert aten.slice(x, -1, 2).tolist() == [2.0, 3.0]
    assert aten.index.Tensor(x.reshape(2, 2), [None, torch.tensor([1])]).tolist() == [[1.0], [3.0]]
    copied = aten._to_copy(x, dtype=torch.float64)
    assert (copied.dtype, copied.tolist()) == (torch.float64, x.tolist())
    assert aten._to_copy(x).data_ptr() != x.data_ptr()
    assert (aten.sym_size.int(x, 0), aten._local_scalar_dense(x[1])) == (4, 1.0)
    assert aten.lift_fresh(x).tolist() == x.tolist()
