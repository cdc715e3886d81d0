"""Calls whose first argument is no proxy: of tensors, of functions that make them, of numbers."""

import pytest

import tapegrad as torch
from tapegrad import fx


def code_of(function):
    return fx.symbolic_trace(function).code.partition("\n    ")[2].strip()


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda x: torch.arange(x.size(0)), "arange = torch.arange(size);  size = None"),
        (lambda x: torch.arange(0, x, 2), "arange = torch.arange(0, x, 2);  x = None"),
        (lambda x: torch.arange(end=x), "arange = torch.arange(end = x);  x = None"),
        (
            lambda x: torch.arange(3, device=x.device),
            "arange = torch.arange(3, device = getattr_1);  getattr_1 = None",
        ),
        (
            lambda x: torch.zeros(x.shape, dtype=x.dtype),
            "zeros = torch.zeros(getattr_1, dtype = getattr_2);  getattr_1 = getattr_2 = None",
        ),
        (lambda x: torch.ones(2, x), "ones = torch.ones(2, x);  x = None"),
        (lambda x: torch.empty((x, 2)), "empty = torch.empty((x, 2));  x = None"),
        (lambda x: torch.rand(size=(x, 2)), "rand = torch.rand(size = (x, 2));  x = None"),
        (
            lambda x: torch.tensor([1.0], device=x.device),
            "tensor = torch.tensor([1.0], device = getattr_1);  getattr_1 = None",
        ),
        (lambda x: torch.result_type(x, 1), "result_type = torch.result_type(x, 1);  x = None"),
        (lambda x: torch.sym_max(x, 1), "sym_max = torch.sym_max(x, 1);  x = None"),
        (lambda x: torch.sym_int(x), "sym_int = torch.sym_int(x);  x = None"),
        (lambda x: torch.sym_sum([x, 1]), "sym_sum = torch.sym_sum([x, 1]);  x = None"),
    ],
)
def test_what_makes_a_tensor_or_a_number_of_a_proxy_is_recorded(function, code):
    assert code in code_of(function)


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (lambda x: torch.ones(2).to(x.device), "to(getattr_1)"),
        (lambda x: torch.ones(2).to(device=x.device), "to(device = getattr_1)"),
        (lambda x: torch.ones(2).view(x, 1), "view(x, 1)"),
        (lambda x: torch.ones(2).expand(x.shape), "expand(getattr_1)"),
        (lambda x: torch.ones(2).reshape(x.size(0), -1), "reshape(size, -1)"),
        (lambda x: torch.ones(2).sum(x), "sum(x)"),
        (lambda x: torch.ones(2).transpose(0, x), "transpose(0, x)"),
        (lambda x: torch.ones(2).permute(x), "permute(x)"),
        (lambda x: torch.ones(2).narrow(0, 0, x), "narrow(0, 0, x)"),
    ],
)
def test_methods_of_a_tensor_with_a_proxy_as_argument_are_recorded(function, call):
    assert f"_tensor_constant0.{call};" in code_of(function)


def test_a_mask_and_positions_of_the_size_of_the_input():
    class Positions(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(8, 2)
            self.register_buffer("mask", torch.ones(8, 8).tril())

        def forward(self, x):
            places = torch.arange(x.size(1), device=x.device)
            mask = self.mask.to(x.device)[: x.size(1), : x.size(1)]
            return mask @ (self.table(places) + x)

    model = Positions()
    traced = fx.symbolic_trace(model)
    for n in (3, 5):
        x = torch.randn(1, n, 2)
        assert torch.equal(traced(x), model(x))


def test_outside_of_a_trace_nothing_asks_for_proxies():
    assert torch.overrides._len_torch_function_stack() == 0
    with pytest.raises(TypeError, match="must be tuple of ints, not str"):
        torch.zeros("a")
