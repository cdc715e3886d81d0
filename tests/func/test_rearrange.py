"""`torch.func.rearrange`: patterns, sizes, and what it refuses, as PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad.func import grad, rearrange, vmap
from tapegrad.func.rearrange import DimensionBindError
from tests.messages import raises

A = torch.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("pattern", "sizes", "shape"),
    [
        ("a b c -> a c b", {}, (2, 4, 3)),
        ("a b c->c b a", {}, (4, 3, 2)),
        ("a b c -> a (b c)", {}, (2, 12)),
        ("a b c -> c (b a)", {}, (4, 6)),
        ("(x a) b c -> a x b c", {"x": 2}, (1, 2, 3, 4)),
        ("a b (c1 c2) -> a c2 (b c1)", {"c2": 2}, (2, 2, 6)),
        ("(a b c) d e -> a b c d e", {"a": 2, "b": 1}, (2, 1, 1, 3, 4)),
        ("a ... -> ... a", {}, (3, 4, 2)),
        ("a ... -> (a ...)", {}, (24,)),
        ("... a -> (...) a", {}, (6, 4)),
        ("(a b) ... -> a b ...", {"a": 2}, (2, 1, 3, 4)),
        ("a b c -> a 1 b () c", {}, (2, 1, 3, 1, 4)),
        ("a b (c) -> c b a", {}, (4, 3, 2)),
        ("a ... c d -> a ... d c", {}, (2, 4, 3)),
    ],
)
def test_shapes(pattern, sizes, shape):
    assert tuple(rearrange(A, pattern, **sizes).shape) == shape


def test_where_elements_go():
    assert rearrange(A, "a b c -> (a b) c")[0].tolist() == [0, 1, 2, 3]
    split = rearrange(A, "a b (c d) -> c d a b", c=2)
    assert split[1, 0].tolist() == [[2, 6, 10], [14, 18, 22]]
    assert rearrange([A[0], A[1]], "n b c -> b n c").tolist() == A.transpose(0, 1).tolist()
    assert rearrange(torch.ones(1, 3, 1), "1 a () -> a").tolist() == [1.0, 1.0, 1.0]
    assert rearrange(torch.ones(0, 4), "(a b) c -> a b c", a=2).shape == (2, 0, 4)


def test_it_goes_with_transforms():
    assert vmap(lambda x: rearrange(x, "b c -> c b"))(A).shape == (2, 4, 3)
    slope = grad(lambda x: (rearrange(x, "a b c -> c (a b)") ** 2).sum())(A.double())
    assert slope.tolist() == (2 * A.double()).tolist()
    assert rearrange(A, "a b c -> c b a")._base is not None


@pytest.mark.parametrize(
    ("error", "message", "pattern", "sizes"),
    [
        (ValueError, "Pattern must contain a single '->' separator", "a b c", {}),
        (ValueError, "Pattern must contain a single '->' separator", "a -> b -> c", {}),
        (
            ValueError,
            "Identifiers only on one side of rearrange expression (should be on both): {'c'}",
            "a b c -> b a",
            {},
        ),
        (ValueError, "Indexing expression contains duplicate dimension 'a'", "a a c -> a c", {}),
        (
            ValueError,
            "Number of dimensions in pattern (2) must be equal to the number of dimensions in the "
            "tensor (3)",
            "a b -> a b",
            {},
        ),
        (
            ValueError,
            "Identifiers not found in rearrange expression: {'z'}",
            "a b c -> a b c",
            {"z": 1},
        ),
        (ValueError, "rearrange only supports unnamed axes of size 1", "a b 4 -> a b 4", {}),
        (
            ValueError,
            "Invalid axis identifier: _a\naxis name should should not start or end with underscore",
            "_a b c -> _a b c",
            {},
        ),
        (
            ValueError,
            "Invalid axis identifier: 1a\nnot a valid python identifier",
            "1a b c -> b",
            {},
        ),
        (
            ValueError,
            "Axis composition is one-level (brackets inside brackets not allowed)",
            "a b c -> (a (b c))",
            {},
        ),
        (ValueError, "Brackets are not balanced", "a b) c -> a b c", {}),
        (ValueError, "Imbalanced parentheses in expression: ' (a b c'", "a b c -> (a b c", {}),
        (ValueError, "Unknown character ','", "a ,b c -> a b c", {}),
        (
            ValueError,
            "Ellipsis found in right side, but not left side of a pattern a b c -> a ... c",
            "a b c -> a ... c",
            {},
        ),
        (
            ValueError,
            "Ellipsis is parenthesis in the left side is not allowed: a (...) -> ... a",
            "a (...) -> ... a",
            {},
        ),
        (ValueError, "Expression may contain dots only inside ellipsis (...)", "a . b -> a b", {}),
        (
            TypeError,
            "rearrange axis lengths must be integers, got: <class 'float'>",
            "a b c -> a b c",
            {"a": 2.0},
        ),
    ],
)
def test_patterns_that_are_refused(error, message, pattern, sizes):
    with raises(error, message):
        rearrange(A, pattern, **sizes)


@pytest.mark.parametrize(
    ("message", "pattern", "sizes"),
    [
        ("cannot infer the sizes of two dimensions at once d2 and d3", "a b (c d) -> a b c d", {}),
        (
            "inferred dimension does not evenly fit into larger dimension: 4 vs (3, '?')",
            "a b (c d) -> a b c d",
            {"c": 3},
        ),
        (
            "Dimension sizes to do not match (2 != 5) when matching dimension pack (d0,)",
            "a b c -> a b c",
            {"a": 5},
        ),
        (
            "Dimension sizes to do not match (2 != 4) when matching dimension pack (d0, d1)",
            "(a x) b c -> a x b c",
            {"a": 2, "x": 2},
        ),
    ],
)
def test_sizes_that_do_not_fit(message, pattern, sizes):
    with raises(DimensionBindError, message):
        rearrange(A, pattern, **sizes)
