"""New tensors of an old one's dtype."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


def test_new_tensors_have_the_dtype_of_the_old():
    x = torch.tensor([1, 2], dtype=torch.int32)
    assert x.new_zeros(3, 2).dtype is torch.int32
    assert x.new_ones((3,)).tolist() == [1, 1, 1]
    assert x.new_ones(3, dtype=torch.float32, requires_grad=True).requires_grad
    assert x.new_empty(size=(3, 0)).shape == (3, 0)
    assert x.new_full((3,), 7.5).tolist() == [7, 7, 7]
    assert x.new_tensor([1, 2.5]).tolist() == [1, 2]
    assert x.new_tensor(np.ones(2, np.float32)).dtype is torch.int32
    assert x.new_empty_strided((3, 2), (1, 3)).stride() == (1, 3)
    assert x.new([2, 3]).tolist() == [2, 3] and x.new(2, 3).shape == (2, 3)
    message = "new_full(): argument 'size' (position 1) must be tuple of ints, not int"
    with raises(TypeError, message):
        x.new_full(3, 2)


def test_new_tensor_of_a_tensor_warns():
    with pytest.warns(UserWarning, match=r"rather than tensor.new_tensor\(sourceTensor\)"):
        torch.ones(2).new_tensor(torch.ones(2))


def test_new_takes_the_names_of_its_forms():
    x = torch.ones(2, 3)
    assert x.new(size=(2, 1)).shape == (2, 1) and x.new(size=torch.Size([])).shape == ()
    assert x.new(data=[1, 2]).tolist() == [1, 2] and x.new(2, device="cpu").shape == (2,)
    assert x.new(x).tolist() == x.tolist() == x.new(other=x).tolist()
    assert torch.Tensor(size=(4,)).shape == (4,)
    for wrong in ({"size": 3}, {"size": "a"}, {"sizes": (3,)}, {"other": 1}):
        with pytest.raises(TypeError, match=r"^new\(\) received an invalid combination of argum"):
            x.new(**wrong)
    with pytest.raises(TypeError, match=r"^new\(\) received an invalid combination of argume"):
        x.new(2, size=(2,))
