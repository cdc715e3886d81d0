"""Types of TorchScript as objects."""

import pytest

import tapegrad as torch
from tests.messages import raises


def test_types_print_as_annotations_and_compare_by_what_they_are():
    ints = torch.ListType(torch.IntType.get())
    assert str(ints) == ints.annotation_str == ints.str() == "List[int]"
    assert ints == torch.ListType.ofInts() != torch.ListType.ofFloats()
    assert ints.kind() == "ListType" and ints.getElementType() == torch.IntType.get()
    table = torch.DictType(torch.StringType.get(), ints)
    assert (str(table.getKeyType()), str(table.getValueType())) == ("str", "List[int]")
    pair = torch.TupleType([ints, torch.TensorType.get()])
    assert str(pair) == "Tuple[List[int], Tensor]" and pair.elements()[0] == ints
    assert [str(x) for x in (torch.ListType.ofBools(), torch.ListType.ofTensors())] == [
        "List[bool]", "List[Tensor]",
    ]  # fmt: skip


def test_a_plain_type_is_one_object_that_cannot_be_made():
    assert torch.TensorType.get() is torch.TensorType.get()
    with raises(TypeError, "torch._C.TensorType: No constructor defined!"):
        torch.TensorType()
    with pytest.raises(TypeError, match="unhashable"):
        hash(torch.IntType.get())


def test_a_type_may_be_part_of_another():
    kinds = torch.IntType.get(), torch.OptionalType(torch.NumberType.get())
    assert kinds[0].isSubtypeOf(kinds[1]) and torch.NoneType.get().isSubtypeOf(kinds[1])
    assert kinds[1].isSubtypeOf(torch.AnyType.get())
    assert not kinds[1].isSubtypeOf(kinds[0])
    assert not torch.StringType.get().isSubtypeOf(torch.NumberType.get())


def test_types_of_pytorch_print_the_same(pytorch):
    for name in "Any Bool Complex DeviceObj Float Int None Number String Tensor".split():
        ours, theirs = (getattr(t, f"{name}Type").get() for t in (torch, pytorch))
        assert (str(ours), ours.kind()) == (str(theirs), theirs.kind())
    for a in "Int Float None Tensor".split():
        for b in "Number Any Float Tensor".split():
            ours, theirs = (
                getattr(t, f"{a}Type").get().isSubtypeOf(getattr(t, f"{b}Type").get())
                for t in (torch, pytorch)
            )
            assert ours == theirs, (a, b)
