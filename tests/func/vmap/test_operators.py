"""Operators inside `vmap` that need care: what members choose, places in memory, loops.

The values are PyTorch's.
"""

import warnings

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.batched import per_sample
from tapegrad.func import grad, vmap
from tests.messages import raises

F = torch.nn.functional
X = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
WIDE = torch.arange(12.0).reshape(3, 4)


def values(tensor):
    return np.asarray(tensor, np.float64).round(4).tolist()


# --- places in memory ---


def test_as_strided_begins_where_each_member_does():
    assert values(vmap(lambda x: x.as_strided((2, 2), (1, 0)))(X)) == [
        [[1.0, 1.0], [0.0, 0.0]],
        [[2.0, 2.0], [3.0, 3.0]],
    ]
    assert values(vmap(lambda x: x[1:].as_strided((1,), (1,)))(X)) == [[0.0], [3.0]]
    assert values(vmap(lambda x: x.as_strided((2,), (3,)), in_dims=1)(WIDE)) == [
        [0.0, 3.0],
        [1.0, 4.0],
        [2.0, 5.0],
        [3.0, 6.0],
    ]
    assert values(vmap(lambda x: x[1:].as_strided((2,), (4,), 4), in_dims=1)(WIDE)) == [
        [4.0, 8.0],
        [5.0, 9.0],
        [6.0, 10.0],
        [7.0, 11.0],
    ]


def test_as_strided_nests_and_has_gradients():
    squares = vmap(grad(lambda x: (x.as_strided((3, 2), (1, 1)) ** 2).sum()))
    want = [[0.0, 4.0, 8.0, 6.0], [8.0, 20.0, 24.0, 14.0], [16.0, 36.0, 40.0, 22.0]]
    assert values(squares(WIDE)) == want
    assert values(vmap(squares)(WIDE[None])) == [want]
    nested = vmap(vmap(lambda x: x.as_strided((2,), (2,))))(WIDE[None])
    assert values(nested) == [[[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]]


@pytest.mark.parametrize(
    ("arguments", "own", "reach"),
    [(((2, 2), (1, 2), 2), "[0, 4]", "[2, 6]"), (((2, 2), (1, 1), -1), "[0, 4]", "[-1, 2]")],
)
def test_as_strided_stays_inside_a_member(arguments, own, reach):
    shape, strides, offset = arguments
    message = (
        f"result = tensor.as_strided({list(shape)}, {list(strides)}, {offset}) can access memory "
        f"outside of `tensor`. `result` can access some memory in range {reach}, but `tensor` can "
        f"only access some memory in range {own}. This is not supported inside of vmap, please try "
        "to rewrite the `as_strided` call as a sequence of PyTorch view operations"
    )
    with raises(RuntimeError, message):
        vmap(lambda x: x.as_strided(*arguments))(WIDE)


# --- what each member chooses ---


def test_index_fill_of_a_mapped_index():
    index = torch.tensor([[0], [-1]])  # where PyTorch takes -1 for a place of the member before
    fill = vmap(lambda x, i: x.index_fill(0, i, 5.0))
    assert values(fill(X, index)) == [[5.0, 0.0], [2.0, 5.0]]
    of_value = vmap(grad(lambda v, x, i: x.index_fill(0, i, v).sum()))
    assert values(of_value(torch.ones(2), X, torch.tensor([[0, 1], [1, 1]]))) == [2.0, 1.0]
    of_x = vmap(grad(lambda x, i: (x.index_fill(0, i, 5.0) ** 2).sum()))
    assert values(of_x(X, index)) == [[0.0, 0.0], [4.0, 0.0]]


def test_masked_scatter_of_a_mapped_mask():
    mask = torch.tensor([[True, False], [True, True]])
    scatter = vmap(torch.masked_scatter, in_dims=(None, 0, 0))
    assert values(scatter(X[0], mask, X * 10)) == [[10.0, 0.0], [20.0, 30.0]]
    of_source = vmap(grad(lambda s, m, x: (x.masked_scatter(m, s) ** 2).sum()), (0, 0, None))
    assert values(of_source(X * 10, mask, X[0])) == [[20.0, 0.0], [40.0, 60.0]]
    with raises(RuntimeError, "Number of elements of source < number of ones in mask"):
        scatter(X[0], mask, X[:, :1])


def test_repeats_of_each_member():
    counts = torch.tensor([[1, 2], [2, 1]])
    repeat = vmap(lambda x, n: x.repeat_interleave(n))
    with pytest.warns(UserWarning, match=r"batching rule for aten::repeat_interleave\.Tensor"):
        per_sample._warned.discard("repeat_interleave.Tensor")
        assert values(repeat(X, counts)) == [[1.0, 0.0, 0.0], [2.0, 2.0, 3.0]]
    with raises(
        RuntimeError,
        "stack expects each tensor to be equal size, but got [2] at entry 0 and [4] at entry 1",
    ):
        repeat(X, torch.tensor([1, 2]))


def test_argwhere_of_members_with_as_many_places():
    per_sample._warned.add("argwhere")
    assert values(vmap(torch.argwhere)(torch.tensor([[1.0, 0.0], [0.0, 3.0]]))) == [[[0]], [[1]]]


def test_masks_that_are_the_same_for_all_in_levels_within_levels():
    mask = torch.tensor([True, False, True, False])
    deep = WIDE.reshape(1, 3, 4)
    assert values(vmap(vmap(lambda x: x[mask]))(deep)) == [[[0, 2], [4, 6], [8, 10]]]
    assert values(vmap(vmap(lambda x: torch.combinations(x[:2])))(deep))[0][0] == [[0.0, 1.0]]
    put = vmap(lambda v: torch.zeros(4).index_put((mask,), v))
    assert values(put(X)) == [[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 3.0, 0.0]]


# --- tables, classes, tolerances ---


def test_rows_of_tables_that_are_shortened():
    per_sample._warned.update(("embedding_renorm_", "embedding_bag"))
    tables = torch.stack([X, X])
    rows = vmap(lambda w: F.embedding(torch.tensor([0, 1]), w, max_norm=1.0))(tables)
    assert values(rows) == [[[1.0, 0.0], [0.5547, 0.8321]]] * 2 == values(tables)
    bags = vmap(lambda w: F.embedding_bag(torch.tensor([[0, 1]]), w, max_norm=1.0))
    assert values(bags(torch.stack([X, X]))) == [[[0.7774, 0.416]]] * 2
    with pytest.raises(RuntimeError, match=r"vmap: aten::embedding_renorm_\(self, .* at level 1"):
        vmap(lambda i: F.embedding(i, X.clone(), max_norm=1.0))(torch.tensor([[0, 1], [1, 1]]))
    assert values(vmap(lambda i: F.embedding(i, X))(torch.tensor([1, 0]))) == values(X[[1, 0]])


def test_a_margin_loss_with_classes_and_weights_of_each_member():
    x = torch.tensor([[0.5, 0.1, -0.3, 0.2]])
    labels, weights = torch.tensor([[1], [3]]), torch.tensor([[1.0, 2.0, 1, 3], [1.0, 1, 1, 4]])
    loss = vmap(lambda y, w: F.multi_margin_loss(x, y, weight=w))
    each = [F.multi_margin_loss(x, y, weight=w) for y, w in zip(labels, weights, strict=True)]
    np.testing.assert_allclose(np.asarray(loss(labels, weights)), [e.item() for e in each])
    fixed = vmap(lambda y: F.multi_margin_loss(x, y, weight=weights[0]))(labels)
    assert values(fixed) == [1.55, 2.025]


def test_the_tolerance_of_each_member():
    x = torch.diag(torch.tensor([1.0, 0.25]))
    inverse = vmap(lambda r: torch.linalg.pinv(x, rtol=r))(torch.tensor([0.1, 0.5]))
    assert values(inverse) == [[[1.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]]]


def test_systems_of_no_equations():
    b = torch.ones(2, 0, 3)
    found = vmap(lambda b: tuple(torch.linalg.solve_ex(torch.ones(0, 0), b)))(b)
    assert [tuple(y.shape) for y in found] == [(2, 0, 3), (2,)]
    none = vmap(lambda b: torch.linalg.solve(torch.ones(2, 0, 0), b))(torch.ones(2, 2, 0))
    assert none.shape == (2, 2, 0)
    pairs = vmap(lambda x: torch.cdist(torch.ones(0, 4, 5), x, p=1.0))(torch.ones(2, 3, 5))
    assert pairs.shape == (2, 0, 4, 3)


# --- making tensors ---


def test_steps_between_the_ends_of_each_member():
    a, b = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0])
    assert values(vmap(lambda a, b: torch.linspace(a, b, 3))(a, b)) == [
        [0.0, 0.5, 1.0],
        [1.0, 1.5, 2.0],
    ]
    assert values(vmap(lambda a: torch.linspace(0, a, 1))(b)) == [[0.0], [0.0]]
    powers = vmap(lambda a, b: torch.logspace(a, b, 3))(a, b)
    assert values(powers) == [[1.0, 3.1623, 10.0], [10.0, 31.6228, 100.0]]
    whole = vmap(lambda b: torch.linspace(0, b, 4, dtype=torch.int64))(torch.tensor([3.0, 10.0]))
    assert whole.dtype is torch.int64 and values(whole) == [[0, 1, 2, 3], [0, 3, 6, 10]]
    each = [torch.linspace(float(x), 7.3, 9) for x in a]
    assert values(vmap(lambda a: torch.linspace(a, 7.3, 9))(a)) == [values(y) for y in each]


def test_classes_of_one_member_do_not_say_how_many_there_are():
    message = (
        "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive "
        "num_classes argument."
    )
    assert values(vmap(lambda y: F.one_hot(y, 3))(torch.tensor([1, 2]))) == [[0, 1, 0], [0, 0, 1]]
    with raises(RuntimeError, message):
        vmap(F.one_hot)(torch.tensor([1, 2]))


# --- loops ---


def test_the_warning_of_a_loop_names_the_users_line():
    per_sample._warned.discard("nonzero_static")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        vmap(lambda x: torch.nonzero_static(x, size=2))(X)
        vmap(lambda x: torch.nonzero_static(x, size=2))(X)
    assert [w.filename for w in seen] == [__file__]


def test_a_loop_over_no_members_gives_no_results():
    per_sample._warned.add("bincount")
    counts = vmap(lambda x: torch.bincount(x, minlength=3))(torch.zeros(0, 2, dtype=torch.int64))
    assert counts.shape == (0, 3)


def test_a_window_of_each_member():
    spectra = torch.ones(2, 3, 4, dtype=torch.complex64)
    windows = torch.tensor([[1.0, 1, 1, 1], [1.0, 0.5, 1, 0.5]])
    back = lambda w: torch.istft(spectra[0], 4, window=w)  # noqa: E731
    each = torch.stack([back(w) for w in windows])
    assert values(vmap(back)(windows)) == values(each)


# --- what is the same for all members stays that, in every kernel ---


@pytest.mark.parametrize(
    "f",
    [
        lambda a: torch.cat([a, a]),
        lambda a: torch.stack([a, a]),
        lambda a: a.gather(0, torch.zeros(2, dtype=torch.int64)),
        lambda a: a.scatter(0, torch.zeros(2, dtype=torch.int64), 1.0),
        lambda a: F.one_hot(a.long()),
        lambda a: a.softmax(0),
        lambda a: a.nonzero(),
        lambda a: a.unique(),
        lambda a: torch.searchsorted(a, a),
        lambda a: F.nll_loss(a[None], torch.zeros(1, dtype=torch.int64)),
        lambda a: F.batch_norm(a[:, None], None, None, training=True),
        lambda a: F.grid_sample(a.reshape(1, 1, 1, 2), torch.zeros(1, 1, 1, 2), align_corners=True),
        lambda a: torch.bincount(a.long()),
        lambda a: F.scaled_dot_product_attention(a[None], a[None], a[None]),
    ],
)
def test_what_is_made_inside_is_the_same_for_all(f):
    found = vmap(lambda x: f(torch.arange(2.0)), out_dims=None)(X)
    assert values(found) == values(f(torch.arange(2.0)))


def test_a_number_of_a_level_further_out_is_an_index():
    def marked(x):
        y = x.clone()
        y[x.argmax()] = -1.0
        return y

    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        slopes = vmap(jacobian(marked))(torch.tensor([[1.0, 3.0], [5.0, 2.0]]))
        assert values(slopes) == [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]]


def test_ranks_and_solutions_need_no_loop():
    x = torch.stack([torch.eye(2), torch.ones(2, 2)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(vmap(torch.linalg.matrix_rank)(x)) == [2, 1]
        assert values(vmap(lambda a: torch.linalg.lstsq(a, a[0]).solution)(x)) == [
            [1.0, 0.0],
            [0.5, 0.5],
        ]
    tall = torch.tensor([[[1.0], [1.0]], [[0.0], [2.0]]])
    solve = vmap(lambda a: torch.linalg.lstsq(a, torch.ones(2, 1), driver="gelsd").residuals)
    with pytest.warns(UserWarning, match="batching rule for aten::linalg_lstsq"):
        per_sample._warned.discard("linalg_lstsq")
        np.testing.assert_allclose(values(solve(tall)), [[0.0], [1.0]], atol=1e-4)
