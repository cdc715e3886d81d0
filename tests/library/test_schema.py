"""Signatures of operators as texts."""

import pytest

from tapegrad.library.schema import parse_schema
from tests.messages import raises_beginning as raises


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("f(Tensor x) -> Tensor", None),
        ("a::f.over(Tensor(a!) x, *, int n=1) -> (Tensor a, Tensor(b!) c)", None),
        ("f(Tensor?[] ts, SymInt[]? e=None, Generator? g=None) -> Tensor[]", None),
        ("f(int[2] k=[1, 1], int[] n=[1,2]) -> ()", "f(int[2] k=1, int[] n=[1, 2]) -> ()"),
        (
            "f(float s=1e-5, float t=2.0) -> ()",
            "f(float s=1.0000000000000001e-05, float t=2.) -> ()",
        ),
        ("f(str s='x', Device d='cpu') -> ()", 'f(str s="x", Device d=cpu) -> ()'),
        ("f(Scalar a=1.5, Scalar b=True, bool c=False) -> int", None),
        ("f(ScalarType d=6) -> ()", None),
    ],
)
def test_texts_are_read_and_printed(text, printed):
    schema = parse_schema(text)
    assert str(schema) == (printed or text)
    assert parse_schema(str(schema)) == schema


def test_what_is_known_of_arguments():
    schema = parse_schema(
        "a::b.c(Tensor(a!) x, int[2]? y, Tensor?[] z, Scalar s, *, ScalarType? d=None)"
        " -> Tensor(a!)"
    )
    assert (schema.name, schema.overload_name, schema.is_mutable) == ("a::b", "c", True)
    found = [(a.name, str(a.type), a.real_type, a.type.kind(), a.N) for a in schema.arguments]
    assert found == [
        ("x", "Tensor", "Tensor", "TensorType", None),
        ("y", "Optional[List[int]]", "Optional[List[int]]", "OptionalType", 2),
        ("z", "List[Optional[Tensor]]", "List[Optional[Tensor]]", "ListType", None),
        ("s", "number", "number", "NumberType", None),
        ("d", "Optional[int]", "Optional[ScalarType]", "OptionalType", None),
    ]
    assert schema.arguments[0].alias_info.before_set == {"a"}
    assert schema.arguments[4].kwarg_only and schema.arguments[4].default_value is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f(Tensor x -> Tensor", "expected ) but found 'arrow' here:"),
        ("f(Tensor x)", "expected arrow but found 'eof' here:"),
        ("f", "Tried to parse a function schema but only the operator name was given"),
        ("f(Tensor x=None, int n) -> ()", "Non-default positional argument follows default"),
        ("f(int n=q) -> ()", "the default q is none of int"),
    ],
)
def test_other_texts_are_errors(text, message):
    with raises(RuntimeError, message):
        parse_schema(text)


def test_unknown_types_are_named():
    with pytest.raises(RuntimeError, match="unknown type specifier"):
        parse_schema("f(Bar x) -> Tensor")


def test_an_argument_that_is_written_needs_no_name_of_what_it_shares():
    schema = parse_schema("f(Tensor a, Tensor! b, Tensor!? c, *, Tensor! out) -> ()")
    assert [x.is_write for x in schema.arguments] == [False, True, True, True]
    assert schema.arguments[3].is_out
    assert str(schema.arguments[1]) == "Tensor($0! -> ) b"
