"""Modules in which PyTorch has what is elsewhere here."""

import pytest

import tapegrad as torch
from tests.needs import pytorch


def test_functions_are_the_same():
    assert torch.functional.einsum is torch.einsum and torch._VF.add is torch.add
    assert torch._tensor.Tensor is torch.Tensor and torch._lowrank.svd_lowrank is torch.svd_lowrank
    for module in (torch.functional, torch._VF, torch._tensor, torch._tensor_str):
        assert not hasattr(module, "no_such_name")
    assert set(torch.functional.__all__) <= set(dir(pytorch().functional))


def test_what_this_is_built_with():
    assert torch.__config__.show().startswith("tapegrad built with:\n")
    assert "get_num_threads" in torch.__config__.parallel_info()
    assert torch.version.debug is False and torch.version.cuda is None


@pytest.mark.parametrize("values", [[1.0, 2.5], [[1.0], [float("inf")]], [1 + 2j], []])
def test_texts_of_elements(values):
    def texts(torch):
        x = torch.tensor(values)
        home = torch._tensor_str
        return home._tensor_str(x, 3), home._str(x), home.PRINT_OPTS.precision

    assert texts(torch) == texts(pytorch())


def test_suffixes():
    for arguments in [
        ("tensor([1.]", ["dtype=x"], 7, False),
        ("tensor(" + "1" * 75, ["a=b"], 7, False),
    ]:
        expected = pytorch()._tensor_str._add_suffixes(*arguments)
        assert torch._tensor_str._add_suffixes(*arguments) == expected
