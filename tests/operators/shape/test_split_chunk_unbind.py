"""The names of what `split` is given: those of the function and of the method differ."""

import pytest

import tapegrad as torch


def test_split_takes_its_arguments_by_name():
    x = torch.arange(6).reshape(2, 3)
    assert [part.tolist() for part in x.split(split_size=1)] == [[[0, 1, 2]], [[3, 4, 5]]]
    assert [part.shape for part in x.split(split_size=[1, 2], dim=1)] == [(2, 1), (2, 2)]
    assert len(torch.split(x, split_size_or_sections=1)) == 2
    assert len(torch.split(tensor=x, split_size_or_sections=[1, 1])) == 2


def test_names_of_the_other_are_refused():
    x = torch.arange(6).reshape(2, 3)
    with pytest.raises(TypeError, match=r"^split\(\) got an unexpected keyword argument 'split_s"):
        torch.split(x, split_size=1)
    with pytest.raises(TypeError, match=r"^Tensor.split\(\) got an unexpected keyword argument"):
        x.split(split_size_or_sections=1)
    with pytest.raises(TypeError, match=r"^Tensor.split\(\) missing 1 required positional argume"):
        x.split()


def test_functions_of_several_tensors_take_no_list():
    x = torch.arange(3)
    for function in (torch.broadcast_tensors, torch.cartesian_prod):
        with pytest.raises(TypeError, match=r"^expected Tensor as element 0 in argument 0"):
            function([x, x])
