"""Random functions of what is the same for each member of a batch, and in chunks: as PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad.func import jacfwd, vmap
from tests.messages import raises

F = torch.nn.functional
X = torch.tensor([[0.2, 0.3, 0.4], [0.5, 0.6, 0.7]])
SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an "
    "issue with functorch"
)
FORBIDDEN = "vmap: called random operation while in randomness error mode."


def drawn(f, randomness, **options):
    torch.manual_seed(3)
    return vmap(f, randomness=randomness, **options)(X).reshape(-1).tolist()


def test_numbers_of_no_tensor_differ_between_members():
    draw = lambda x: torch.normal(0.0, 1.0, (2,))  # noqa: E731
    assert drawn(draw, "different") == pytest.approx([0.8033, 0.1748, 0.0890, -0.6137], abs=1e-4)
    assert drawn(draw, "same") == pytest.approx([0.8033, 0.1748] * 2, abs=1e-4)
    with pytest.raises(RuntimeError, match=FORBIDDEN):
        drawn(draw, "error")


def test_tensors_given_by_name_are_mapped_as_others():
    by_name = drawn(lambda x: torch.normal(mean=x, std=1.0), "different")
    assert by_name == drawn(lambda x: torch.normal(x, 1.0), "different")
    with raises(RuntimeError, SAME):
        drawn(lambda x: torch.normal(mean=x, std=1.0), "same")


CAPTURED = torch.ones(3)


@pytest.mark.parametrize("ones", [lambda: torch.ones(3), lambda: CAPTURED])
def test_dropout_of_what_is_the_same_for_each_member(ones):
    drop = lambda x: F.dropout(ones())  # noqa: E731
    assert drawn(drop, "different") == [2.0, 2.0, 0.0, 2.0, 0.0, 0.0]
    assert drawn(drop, "same") == [2.0, 2.0, 0.0] * 2
    with pytest.raises(RuntimeError, match=FORBIDDEN):
        drawn(drop, "error")
    channels = lambda x: F.dropout1d(ones()[None, :, None])  # noqa: E731
    assert drawn(channels, "different") == [2.0, 2.0, 0.0, 2.0, 0.0, 0.0]


def test_dropout_in_levels_within_levels():
    torch.manual_seed(3)
    drop = lambda x: F.dropout(torch.ones(50))  # noqa: E731
    once = vmap(vmap(drop, randomness="different"), randomness="different")(X)
    assert (
        once.shape == (2, 3, 50) and len({tuple(row) for row in once.reshape(6, 50).tolist()}) == 6
    )
    some = vmap(vmap(drop, randomness="same"), randomness="different")(X)
    assert len({tuple(row) for row in some.reshape(6, 50).tolist()}) == 2


def test_columns_of_a_jacobian_may_draw_different_numbers():
    torch.manual_seed(3)
    found = jacfwd(F.dropout, randomness="different")(X[0])
    assert found.tolist() == [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]


def test_the_same_numbers_in_every_chunk():
    for draw in (torch.rand_like, lambda x: torch.rand(3)):
        chunks = drawn(draw, "same", chunk_size=1)
        assert chunks[:3] == chunks[3:] == pytest.approx([0.0043, 0.1056, 0.2858], abs=1e-4)
        different = drawn(draw, "different", chunk_size=1)
        assert different[:3] != different[3:]


def test_what_cannot_be_drawn():
    with raises(RuntimeError, "vmap: we do not yet support aten::rrelu. Please file an issue"):
        drawn(lambda x: F.rrelu(-x, training=True), "different")
    with raises(RuntimeError, SAME):
        drawn(lambda x: torch.empty(3).bernoulli_(x), "same")
    with pytest.raises(
        RuntimeError, match=r"^vmap: inplace bernoulli\(self, \*extra_args\) is not"
    ):
        drawn(lambda x: torch.empty(3).bernoulli_(x), "different")


def test_a_number_and_a_tensor_that_is_the_same_for_each_member():
    torch.manual_seed(0)
    found = vmap(lambda _: torch.normal(0.0, X), randomness="different")(torch.ones(4))
    torch.manual_seed(0)
    assert torch.equal(found, torch.normal(0.0, X.expand(4, 2, 3)))


@pytest.mark.parametrize("replacement", [True, False])
def test_rows_of_weights_in_a_batch(replacement):
    weights = X.repeat(4, 1, 1)
    torch.manual_seed(0)
    found = vmap(
        lambda w: torch.multinomial(w, 2, replacement=replacement), randomness="different"
    )(weights)
    torch.manual_seed(0)
    expected = torch.multinomial(weights.flatten(0, 1), 2, replacement=replacement)
    assert torch.equal(found, expected.view(4, 2, 2))
