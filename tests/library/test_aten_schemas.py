"""Signatures of PyTorch's native operators, as they were written down."""

import pytest

import tapegrad as torch

aten = torch.ops.aten


@pytest.mark.parametrize(
    ("overload", "text"),
    [
        (
            aten.add.Tensor,
            "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        ),
        (aten.relu_.default, "aten::relu_(Tensor(a!) self) -> Tensor(a!)"),
        (
            aten.conv1d.default,
            "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
            "SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
        ),
        (
            aten.sum.dim_IntList,
            "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
            "ScalarType? dtype=None) -> Tensor",
        ),
        (aten._int_mm.default, "aten::_int_mm(Tensor self, Tensor mat2) -> Tensor"),
    ],
)
def test_a_signature_prints_as_in_pytorch(overload, text):
    assert str(overload._schema) == text


def test_arguments_have_types_and_defaults():
    schema = aten.add.Tensor._schema
    assert [(each.name, str(each.type)) for each in schema.arguments] == [
        ("self", "Tensor"),
        ("other", "Tensor"),
        ("alpha", "number"),
    ]
    alpha = schema.arguments[2]
    assert (alpha.kwarg_only, alpha.has_default_value(), alpha.default_value) == (True, True, 1)
    assert [str(each.type) for each in schema.returns] == ["Tensor"]
    assert not schema.is_mutable and aten.add_.Tensor._schema.is_mutable


def test_what_pytorch_says_of_an_overload():
    assert aten.t.default.is_view and not aten.add_.Tensor.is_view
    assert torch.Tag.pointwise in aten.add.Tensor.tags and torch.Tag.core in aten.add.Tensor.tags
    assert torch.Tag.inplace_view in aten.t_.default.tags


def test_what_pytorch_has_not_is_no_operator():
    assert not hasattr(aten, "bfloat16") and not hasattr(aten, "cross_entropy")
    assert "cross_entropy_loss" in dir(aten)
