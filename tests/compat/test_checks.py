"""What programs make sure of, and in which errors."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("_check", RuntimeError),
        ("_check_index", IndexError),
        ("_check_value", ValueError),
        ("_check_type", TypeError),
        ("_check_not_implemented", NotImplementedError),
    ],
)
def test_a_check_raises_its_error(name, error):
    check = getattr(torch, name)
    check(True, lambda: pytest.fail("not called"))
    with pytest.raises(error, match=r"^said$"):
        check(False, lambda: "said")
    with pytest.raises(error, match=r"^Expected cond to be True, but got False"):
        check(False)
    with pytest.raises(TypeError, match="cond must be a bool, but got <class 'int'>"):
        check(1)
    with pytest.raises(TypeError, match="message must be a callable"):
        check(False, "said")


def test_checks_of_tensors():
    torch._check_tensor_all(torch.tensor([True, True]))
    with pytest.raises(KeyError):
        torch._check_tensor_all_with(KeyError, torch.tensor([True, False]))
    with pytest.raises(TypeError, match=r"must have dtype torch\.bool, but got torch\.float32"):
        torch._check_tensor_all(torch.ones(1))
    with pytest.raises(TypeError, match="cond must be a tensor"):
        torch._check_tensor_all(True)
    assert torch._is_all_true(torch.tensor([True])) and not torch._is_any_true(
        torch.tensor([False])
    )


def test_assertions():
    torch._assert(torch.tensor(True), "")
    torch._assert_async(torch.ones(1))
    with pytest.raises(AssertionError, match=r"^here$"):
        torch._assert(False, "here")
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value, but got ze"):
        torch._assert_async(torch.zeros(1))
    with pytest.raises(RuntimeError, match=r"^said"):
        torch._assert_async(torch.zeros(1), "said")
    torch._assert_tensor_metadata(torch.ones(2), [2], [1], torch.float32)
    with pytest.raises(RuntimeError, match="Tensor dtype mismatch!"):
        torch._assert_tensor_metadata(torch.ones(2), dtype=torch.int64)


def test_a_size_is_not_negative():
    with pytest.warns(FutureWarning, match="_check_is_size will be removed"):
        torch._check_is_size(3)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError):
        torch._check_is_size(-1)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError):
        torch._check_is_size(4, max=3)
