"""Signatures from annotations."""

from collections.abc import Sequence
from typing import Optional, Union

import pytest

import tapegrad as torch
from tests.messages import raises_beginning as raises

infer_schema = torch.library.infer_schema


def everything(
    x: torch.Tensor,
    ys: list[torch.Tensor],
    z: Optional[torch.Tensor] = None,  # noqa: UP045
    d: torch.dtype = torch.float32,
    e: torch.device = torch.device("cpu"),  # noqa: B008
    s: str = "hi",
    *,
    n: Union[int, float, bool] = 3,  # noqa: UP007
    f: float = 1e-5,
) -> tuple[torch.Tensor, int, list[torch.Tensor]]:
    raise AssertionError


def test_annotations_are_a_signature():
    assert infer_schema(everything, mutates_args=()) == (
        '(Tensor x, Tensor[] ys, Tensor? z=None, ScalarType d=float32, Device e="cpu", '
        'str s="hi", *, Scalar n=3, float f=1e-05) -> (Tensor, SymInt, Tensor[])'
    )


def test_what_is_written_is_marked():
    def f(n: int, x: torch.Tensor, ys: "Sequence[torch.Tensor]") -> None: ...

    marked = "(SymInt n, Tensor(a1!) x, Tensor[] ys) -> ()"
    assert infer_schema(f, mutates_args={"x"}) == marked
    marked = "g(SymInt n, Tensor(a1!) x, Tensor(a2!)[] ys) -> ()"
    assert infer_schema(f, mutates_args="unknown", op_name="g") == marked


def bare(x): ...


def no_return(x: torch.Tensor): ...


def odd(x: torch.Tensor, y: dict) -> torch.Tensor: ...


def odd_return(x: torch.Tensor) -> dict: ...


def odd_default(x: torch.Tensor, n: Sequence[int] = (1, 2)) -> torch.Tensor: ...


def many(*x: torch.Tensor) -> torch.Tensor: ...


@pytest.mark.parametrize(
    ("function", "written", "message"),
    [
        (bare, (), "infer_schema(func): Parameter x must have a type annotation. Got func with"),
        (no_return, (), "infer_schema(func): No return type annotation was provided. Please add"),
        (odd, (), "infer_schema(func): Parameter y has unsupported type <class 'dict'>."),
        (odd_return, (), "infer_schema(func): Return has unsupported type <class 'dict'>."),
        (odd_default, (), "infer_schema(func): Parameter n has an unsupported default value type"),
        (many, (), "infer_schema(func): We do not support positional-only args, varargs, or"),
        (everything, ("q",), "infer_schema(func): {'q'} in mutates_args were not found in the"),
        (everything, ("s",), "infer_schema(func): Parameter s is in mutable_args but only Tensors"),
    ],
)
def test_other_functions_are_errors(function, written, message):
    with raises(ValueError, message):
        infer_schema(function, mutates_args=written)
