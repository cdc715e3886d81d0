import pytest

import tapegrad as torch
from tapegrad.overrides import TorchFunctionMode, resolve_name


class Names(TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(resolve_name(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "made",
    [
        lambda: torch.FloatTensor([1.0, 2.0]),
        lambda: torch.FloatTensor(torch.tensor([1.0, 2.0]).tolist()),
    ],
)
def test_constructors_of_a_dtype_work_in_a_mode(made):
    with Names():
        assert made().tolist() == [1.0, 2.0]


def test_a_mode_hears_of_result_type():
    with Names() as mode:
        assert torch.result_type(torch.ones(1, dtype=torch.int8), 1.5) is torch.float32
    assert "torch.result_type" in mode.seen


def test_vmap_gives_its_results_back_in_a_mode():
    with Names() as mode:
        doubled = torch.vmap(lambda x: x * 2)(torch.ones(2))
    assert doubled.tolist() == [2.0, 2.0]
    assert "torch.Tensor.mul" in mode.seen


def test_a_handler_of_a_mode_that_does_not_get_it_is_refused():
    class Mode(TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with pytest.raises(RuntimeError, match="`__torch_function__` as a classmethod is not supp"):
        with Mode():
            torch.ones(1)
