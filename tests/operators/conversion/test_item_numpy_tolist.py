"""Numbers, lists, arrays and DLPack from tensors, against what PyTorch 2.13 gave and said."""

import numpy as np
import pytest

import tapegrad as torch
from tests import needs
from tests.messages import raises

REQUIRES_GRAD = (
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
)


def test_item_is_a_python_number():
    for value in (3, 3.5, True, 2j):
        found = torch.tensor([value]).item()
        assert found == value and type(found) is type(value)
    assert torch.tensor(1.1).item() == 1.100000023841858
    found = torch.tensor(1.5, dtype=torch.bfloat16).item()
    assert found == 1.5 and type(found) is float
    with raises(RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"):
        torch.ones(2).item()


def test_tolist_nests_as_deep_as_the_tensor():
    assert torch.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert torch.tensor(1.5).tolist() == 1.5
    assert torch.zeros(0, 3).tolist() == []
    assert torch.tensor([1.1, 2], dtype=torch.bfloat16).tolist() == [1.1015625, 2.0]


def test_numpy_shares_memory_and_refuses_what_requires_grad():
    x = torch.ones(2)
    x.numpy()[0] = 3
    assert x.tolist() == [3, 1]
    y = torch.ones(2, requires_grad=True)
    for convert in (y.numpy, lambda: np.asarray(y), lambda: np.sqrt(y)):
        with raises(RuntimeError, REQUIRES_GRAD):
            convert()
    assert y.numpy(force=True).tolist() == [1, 1]
    with raises(TypeError, "Got unsupported ScalarType BFloat16"):
        x.bfloat16().numpy()


def test_numpy_functions_take_tensors_and_give_tensors():
    x = torch.tensor([1.0, 4.0])
    assert repr(np.sqrt(x)) == "tensor([1., 2.])"
    assert repr(np.add(x, np.ones(2))) == "tensor([2., 5.], dtype=torch.float64)"
    assert repr(np.isfinite(x)) == "tensor([1, 1], dtype=torch.uint8)"
    assert np.stack([x, x]).shape == (2, 2)
    assert np.array(x, dtype=np.int32).tolist() == [1, 4]
    copied = np.array(x)
    copied[0] = 7
    assert x.tolist() == [1, 4]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(x, dtype=np.int32, copy=False)


def test_one_element_is_a_number():
    x = torch.tensor([3.7])
    assert (int(x), float(torch.tensor(3)), complex(torch.tensor(2j))) == (3, 3.0, 2j)
    assert bool(torch.tensor([[2.5]])) and not torch.tensor([0])
    with raises(ValueError, "only one element tensors can be converted to Python scalars"):
        float(torch.ones(2))
    with raises(ValueError, "cannot convert float NaN to integer"):
        int(torch.tensor(float("nan")))
    with raises(RuntimeError, "value cannot be converted to type double without overflow"):
        float(torch.tensor(2j))
    with raises(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"):
        bool(torch.ones(2))
    with raises(RuntimeError, "Boolean value of Tensor with no values is ambiguous"):
        bool(torch.ones(0))


def test_a_number_of_a_tensor_that_requires_grad_warns():
    x = torch.tensor(2.5, requires_grad=True)
    for kind in (float, complex):
        with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a sc"):
            assert kind(x) == 2.5
    assert int(x) == 2 and bool(x) and x.item() == 2.5


def test_integers_and_booleans_are_indices():
    assert [1, 2, 3][torch.tensor(1)] == 2 and [1, 2, 3][torch.tensor([True])] == 2
    assert range(torch.tensor(3)) == range(3)
    for x in (torch.tensor(1.0), torch.tensor([1, 2])):
        with raises(
            TypeError, "only integer tensors of a single element can be converted to an index"
        ):
            [1, 2, 3][x]


def test_a_tensor_is_a_sequence_along_its_first_dimension():
    x = torch.ones(2, 3, requires_grad=True)
    rows = list(x)
    assert len(x) == 2 and [row.shape for row in rows] == [(3,), (3,)]
    assert type(rows[0].grad_fn).__name__ == "UnbindBackward0"
    with raises(TypeError, "iteration over a 0-d tensor"):
        iter(torch.tensor(3.0))
    with raises(TypeError, "len() of a 0-d tensor"):
        len(torch.tensor(3.0))


def test_containment_compares_elements():
    x = torch.tensor([1, 2, 3])
    assert 2 in x and 5 not in x and torch.tensor(2) in x
    assert torch.tensor([1, 2]) in torch.tensor([[1, 2], [3, 4]])
    message = "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
    with raises(RuntimeError, message + "<class 'str'>."):
        "a" in x  # noqa: B015


def test_a_tensor_formats_as_its_number_and_hashes_as_itself():
    assert f"{torch.tensor(2.5):.3f}" == "2.500"
    assert f"{torch.tensor([2.5])}" == "tensor([2.5000])"
    with raises(TypeError, "unsupported format string passed to Tensor.__format__"):
        f"{torch.tensor([2.5]):.3f}"
    x = torch.ones(2)
    assert {x: 1}[x] == 1 and hash(x) == id(x)


def test_dlpack_shares_memory_both_ways():
    x = torch.ones(2)
    array = np.from_dlpack(x)
    y = torch.from_dlpack(x)
    y[0] = 3
    assert array.tolist() == [3, 1] and x.tolist() == [3, 1]
    source = np.zeros(2)
    torch.from_dlpack(source).fill_(7)
    assert source.tolist() == [7, 7]
    assert tuple(map(int, x.__dlpack_device__())) == (1, 0)
    with raises(BufferError, "Can't export tensors that require gradient, use tensor.detach()"):
        np.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
        torch.from_dlpack(3)


class Exchanged:
    """An array of another library, which has nothing but its memory to offer."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_tensors_are_made_of_what_has_dlpack():
    given = np.arange(3, dtype=np.int16)
    made = torch.tensor(Exchanged(given))
    assert made.dtype == torch.int16 and made.tolist() == [0, 1, 2]
    made[0] = 7
    assert given.tolist() == [0, 1, 2]
    assert torch.tensor(Exchanged(given), dtype=torch.float64).tolist() == [0.0, 1.0, 2.0]
    assert torch.as_tensor(Exchanged(given)).tolist() == [0, 1, 2]


def test_memory_on_the_cpu_has_no_stream():
    x = torch.ones(2)
    assert type(x.__dlpack__(stream=-1)) is type(x.__dlpack__(stream=None))
    with raises(TypeError, "stream must be ``int`` or ``none``"):
        x.__dlpack__(stream="0")
    with raises(AssertionError, "stream should be None on cpu."):
        x.__dlpack__(stream=1)


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True")
def test_matplotlib_draws_detached_tensors():
    pyplot = needs.package("matplotlib.pyplot", "draws")
    pyplot.switch_backend("Agg")
    x = torch.linspace(0, 1, 5, requires_grad=True)
    (line,) = pyplot.plot(x.detach(), (x * 2).detach())
    assert line.get_ydata().tolist() == [0, 0.5, 1, 1.5, 2]
    with raises(RuntimeError, REQUIRES_GRAD):
        pyplot.plot(x)
    pyplot.close("all")


def test_a_capsule_is_taken_once():
    x = torch.ones(2)
    capsule = torch.utils.dlpack.to_dlpack(x)
    torch.utils.dlpack.from_dlpack(capsule)[0] = 3
    assert x.tolist() == [3, 1]
    with pytest.raises(RuntimeError, match="consumed only once"):
        torch.from_dlpack(capsule)
