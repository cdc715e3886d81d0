"""Losses as functions: margins, densities, sequences, what they refuse; against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.waves import cosines, sines, value_and_gradients

F = torch.nn.functional


def near(values):
    return pytest.approx(values, abs=1e-8)


def test_pairs_and_triples_with_a_margin():
    x, y, ones = sines(3, 4), cosines(3, 4), torch.ones(3, 4)
    loss, gradient, _ = value_and_gradients(
        lambda a, b: F.margin_ranking_loss(a, b, ones, 0.3, reduction="none"), x, y
    )
    assert loss[:5] == near([1.3, 0.0, 0.0, 0.0, 0.403158874])
    assert gradient[:5] == [-1, 0, 0, 0, -1]
    target = torch.tensor([1, -1, 1])
    loss, gradient, _ = value_and_gradients(
        lambda a, b: F.cosine_embedding_loss(a, b, target, 0.1, reduction="none"), x, y
    )
    assert loss == near([1.032546706, 0.124843005, 1.034564049])
    assert gradient[:2] == near([-0.512867321, -0.294717836])
    signs = torch.tensor([1, -1, -1, 1])
    loss, gradient = value_and_gradients(
        lambda a: F.hinge_embedding_loss(a, signs, reduction="sum"), x
    )
    assert loss == near([5.650146138]) and gradient[:4] == [1, -1, -1, 1]
    loss, gradient, _ = value_and_gradients(
        lambda a, b: F.triplet_margin_loss(a, b, x * 2, swap=True, reduction="none"), x, y
    )
    assert loss == near([1.784564499, 1.345940642, 1.469895592])
    assert gradient[:2] == near([-0.492251483, 0.82309061])


def test_the_distance_of_a_triplet_loss_may_be_any_function():
    a = torch.tensor([[0.0, 0.0]])
    near, far = torch.tensor([[0.0, 2.0]]), torch.tensor([[0.5, 0.0]])

    def largest(x, y):
        return (x - y).abs().amax(-1)

    loss = F.triplet_margin_with_distance_loss(a, near, far, distance_function=largest, margin=0.25)
    assert loss.item() == 1.75
    loss = F.triplet_margin_with_distance_loss(a, near, far, margin=0.25)
    assert loss.item() == pytest.approx(1.75, abs=1e-5)


def test_classes_with_a_margin():
    x, weight = sines(3, 4), torch.tensor([1.0, 2, 3, 4]).double()
    target = torch.tensor([0, 3, 1])
    loss, gradient = value_and_gradients(
        lambda a: F.multi_margin_loss(a, target, 2, 0.7, weight, reduction="none"), x
    )
    assert loss == near([1.418363468, 0.0, 0.815670704])
    assert gradient[:4] == near([-1.99594421, 0.770735492, 0.804648713, 0.420560004])
    labels = torch.tensor([[1, 0, -1, 3], [-1, 0, 0, 0], [2, 2, -1, 0]])
    loss, gradient = value_and_gradients(
        lambda a: F.multilabel_margin_loss(a, labels, reduction="none"), x
    )
    assert loss == near([1.104473225, 0.0, 2.516774929])
    assert gradient == [-0.5, -0.5, 0.5, 0.5, 0, 0, 0, 0, 0.5, 0.5, -1.5, 0.5]
    loss = F.multilabel_soft_margin_loss(x, torch.tensor([1.0, 0, 1, 0]).double(), reduction="none")
    assert loss.tolist() == near([0.749428634, 0.845801322, 0.63784811])
    signs = torch.tensor([1.0, -1, 1, -1]).double()
    loss, gradient = value_and_gradients(lambda a: F.soft_margin_loss(a, signs), x)
    assert loss == near([0.744359355]) and gradient[:2] == near([-0.041666667, 0.058231244])


def test_densities():
    x, counts = sines(3, 4), torch.arange(4.0).double()
    loss, of_x, of_var = value_and_gradients(
        lambda a, v: F.gaussian_nll_loss(a, x * 2, v, full=True), x, cosines(3, 4).exp()
    )
    assert loss == near([1.192613539]) and of_x[:2] == near([0.0, -0.040851461])
    assert of_var[0] * 2.718281828459045 == near(0.041666667)
    loss, gradient = value_and_gradients(lambda a: F.poisson_nll_loss(a, counts, full=True), x)
    assert loss == near([1.918860418]) and gradient[:2] == near([0.083333333, 0.109981402])
    loss = F.poisson_nll_loss(x.exp(), counts, log_input=False)
    assert loss.item() == near(1.314888392)


def test_a_variance_may_lack_a_dimension_but_not_two():
    x = sines(2, 3)
    assert F.gaussian_nll_loss(x, x, torch.ones(2).double()).item() == 0
    assert F.gaussian_nll_loss(x, x, torch.ones(1, 3).double()).item() == 0
    assert F.gaussian_nll_loss(x, x, 1.0).item() == 0
    with raises(ValueError, "var is of incorrect size"):
        F.gaussian_nll_loss(x, x, torch.ones(1, 1))
    with raises(ValueError, "var has negative entry/entries"):
        F.gaussian_nll_loss(x, x, -1.0)


SEQUENCES = torch.tensor([[1, 2], [1, 1], [2, 0]])
LENGTHS = ((4, 4, 3), (2, 2, 1))


def test_sequences_without_alignment():
    def loss(x, **options):
        return F.ctc_loss(x.log_softmax(2), SEQUENCES, *LENGTHS, **options)

    x = sines(4, 3, 3)
    assert loss(x, reduction="none").tolist() == near([1.58836831, 3.094848254, 1.881549072])
    assert loss(x, reduction="sum").item() == near(6.564765636)
    y, gradient = value_and_gradients(loss, x)
    assert y == near([1.407719118])
    assert gradient[:3] == near([0.010249856, -0.081559348, 0.071309492])
    assert gradient[-6:-3] == near([0.01861273, -0.122836018, 0.104223288])
    assert gradient[-3:] == [0, 0, 0]  # beyond the time of the last one


def test_targets_of_sequences_in_every_form_are_the_same():
    logp = sines(4, 3, 3).log_softmax(2)
    together = torch.tensor([1, 2, 1, 1, 2])
    tensors = [torch.tensor(n) for n in LENGTHS]
    want = F.ctc_loss(logp, SEQUENCES, *LENGTHS).item()
    assert F.ctc_loss(logp, together, *tensors).item() == want
    assert F.ctc_loss(logp, SEQUENCES.int(), *(n.int() for n in tensors)).item() == want
    one = F.ctc_loss(logp[:, 0], SEQUENCES[0], tensors[0][0], tensors[1][0], reduction="none")
    assert one.item() == near(1.58836831) and one.shape == ()
    assert torch.ctc_loss(logp, SEQUENCES, *LENGTHS, 0, 2).item() == near(6.564765636)


def test_an_impossible_sequence_costs_infinity_or_nothing():
    x = sines(2, 1, 3).requires_grad_()
    target = torch.tensor([[1, 1]])  # no time for the blank between them
    assert F.ctc_loss(x.log_softmax(2), target, (2,), (2,)).item() == float("inf")
    loss = F.ctc_loss(x.log_softmax(2), target, (2,), (2,), zero_infinity=True)
    loss.backward()
    assert loss.item() == 0 and x.grad.abs().sum() == 0


def test_very_improbable_sequences_have_a_finite_loss():
    x = torch.full((3, 1, 2), -400.0)
    x[..., 0] = 0.0
    loss = F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 1]]), (3,), (2,), reduction="sum")
    assert loss.item() == 800


def test_symbols_of_probability_zero_take_no_part():
    x = sines(4, 1, 3)
    x[1:3, 0, 2] = -float("inf")
    x.requires_grad_()
    loss = F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2]]), (4,), (2,), reduction="sum")
    loss.backward()
    assert loss.item() == near(2.997301692)
    assert x.grad[0, 0].tolist() == near([-0.240908527, -0.186948424, 0.427856951])
    impossible = F.ctc_loss(x.log_softmax(2)[1:3], torch.tensor([[2]]), (2,), (1,))
    assert impossible.item() == float("inf")


def test_the_loss_of_a_sequence_has_second_derivatives():
    def gradient(x):
        y = F.ctc_loss(x.log_softmax(2), SEQUENCES, *LENGTHS)
        return torch.autograd.grad(y, x, create_graph=True)[0]

    x, v = sines(4, 3, 3).requires_grad_(), cosines(4, 3, 3)
    (along,) = torch.autograd.grad((gradient(x) * v).sum(), x)
    with torch.no_grad():
        ahead, behind = x + 1e-5 * v, x - 1e-5 * v
    difference = gradient(ahead.requires_grad_()) - gradient(behind.requires_grad_())
    assert along.flatten().tolist() == near((difference / 2e-5).flatten().tolist())


def test_the_number_of_a_reduction_at_the_top_level():
    x, ones = sines(2, 3), torch.ones(2, 3)
    assert torch.hinge_embedding_loss(x, ones).shape == (2, 3)  # as in PyTorch: none by default
    assert torch.hinge_embedding_loss(x, ones, 1.0, 1).item() == x.mean().item()
    assert torch.hinge_embedding_loss(x, ones, 1.0, 2).item() == x.sum().item()
    with raises(TypeError, "kl_div(): argument 'reduction' (position 3) must be int, not str"):
        torch.kl_div(x, x, "mean")


def test_older_arguments_warn_and_count():
    x = sines(2, 3)
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        loss = F.hinge_embedding_loss(x, torch.ones(2, 3), size_average=False)
    assert loss.item() == x.sum().item()


def test_a_mean_that_is_no_mean_over_the_batch_warns():
    p = torch.tensor([[0.5, 0.5]])
    with pytest.warns(UserWarning, match="'mean' divides the total loss by both"):
        F.kl_div(p.log(), p)


REFUSED = (
    (
        lambda: F.margin_ranking_loss(torch.ones(2, 3), torch.ones(3), torch.ones(3)),
        RuntimeError,
        "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
        "torch.Size([2, 3]), input2: torch.Size([3]), target: torch.Size([3]) ",
    ),
    (
        lambda: F.triplet_margin_loss(*[torch.ones(2, 3)] * 3, margin=0),
        ValueError,
        "margin must be greater than 0, got 0",
    ),
    (
        lambda: F.cosine_embedding_loss(*[torch.ones(2, 3)] * 2, torch.tensor(1)),
        RuntimeError,
        "0D target tensor expects 1D input tensors, but found inputs with sizes [2, 3] and [2, 3].",
    ),
    (
        lambda: F.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 3])),
        RuntimeError,
        "target out of range",
    ),
    (
        lambda: F.soft_margin_loss(torch.ones(2), torch.ones(2, requires_grad=True)),
        RuntimeError,
        "The function 'soft_margin_loss' is not differentiable with respect to argument 'target'. "
        "This input cannot have requires_grad True.",
    ),
    (
        lambda: F.ctc_loss(torch.zeros(2, 1, 3), torch.tensor([[1]]), (3,), (1,)),
        RuntimeError,
        "Expected input_lengths to have value at most 2, but got value 3 (while checking arguments "
        "for ctc_loss_allocate_outputs)",
    ),
    (
        lambda: F.ctc_loss(torch.zeros(2, 1, 3), torch.tensor([[3]]), (2,), (1,)),
        IndexError,
        "ctc_loss: a target is out of range",  # PyTorch reads beyond the array
    ),
    (
        lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([[0], [1]])),
        RuntimeError,
        "0D or 1D target tensor expected, multi-target not supported",
    ),
    (
        lambda: F.cross_entropy(torch.ones(2, 3), torch.ones(2, 3), ignore_index=1),
        RuntimeError,
        "ignore_index is not supported for floating point target",
    ),
    (
        lambda: F.nll_loss(torch.ones(2, 3), torch.tensor([0, 1]), torch.ones(2)),
        RuntimeError,
        "weight tensor should be defined either for all 3 classes or no classes but got weight "
        "tensor of shape: [2]",
    ),
    (
        lambda: F.binary_cross_entropy_with_logits(torch.ones(2), torch.tensor([0, 1])),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (
        lambda: F.mse_loss(torch.tensor([1, 2]), torch.tensor([1, 2])),
        NotImplementedError,
        "\"mse_cpu\" not implemented for 'Long'",
    ),
    (
        lambda: F.mse_loss(torch.ones(2, 3), torch.ones(2, 3), weight=torch.ones(3)),
        ValueError,
        "Weights and input must have the same size.",
    ),
)


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_pytorchs_words(call, error, message):
    with raises(error, message):
        call()


def test_nodes_have_pytorchs_names():
    x, classes = sines(2, 3).requires_grad_(), torch.tensor([0, 1])
    places = torch.zeros(1, 3, dtype=torch.int64)
    for loss, name in (
        (F.multi_margin_loss(x, classes), "MultiMarginLossBackward0"),
        (F.multilabel_margin_loss(x, torch.zeros(2, 3).long()), "MultilabelMarginLossBackward0"),
        (F.soft_margin_loss(x, torch.ones(2, 3)), "SoftMarginLossBackward0"),
        (F.nll_loss(x, classes), "NllLossBackward0"),
        (F.nll_loss(x.unsqueeze(0), places), "NllLoss2DBackward0"),
        (F.glu(x.mT), "GluBackward0"),
        (F.rrelu(x, training=True), "RreluWithNoiseBackward0"),
    ):
        assert type(loss.grad_fn).__name__ == name


def test_what_comes_after_the_last_time_of_a_target_is_not_looked_at():
    logits = torch.arange(40.0).reshape(5, 2, 4).sin()
    logp = logits.log_softmax(-1)
    logp[3:, 1] = float("nan")
    logp.requires_grad_()
    loss = F.ctc_loss(logp, torch.tensor([[1, 1], [2, 3]]), [5, 3], [1, 2], reduction="none")
    loss.sum().backward()
    whole = logits.log_softmax(-1).requires_grad_()
    F.ctc_loss(whole, torch.tensor([[1, 1], [2, 3]]), [5, 3], [1, 2], reduction="sum").backward()
    assert logp.grad.tolist() == whole.grad.tolist()


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 2)])
def test_classes_of_weight_zero_are_not_ignored(shape):
    target = torch.zeros(shape[:1] + shape[2:], dtype=torch.long)
    weight = torch.zeros(3)
    x = torch.ones(shape, requires_grad=True)
    loss = F.nll_loss(x, target, weight)
    (g,) = torch.autograd.grad(loss, x)
    assert loss.isnan() and g[:, 0].isnan().all() and not g[:, 1:].any()
    loss = F.nll_loss(x, target, weight, ignore_index=0)
    (g,) = torch.autograd.grad(loss, x)
    assert loss.isnan() and not g.any()
    assert F.nll_loss(x * float("inf"), target, weight, reduction="sum").isnan()


def test_each_loss_of_classes_at_places_is_a_view():
    """PyTorch brings all places into one dimension, and back."""
    x, target = torch.ones(2, 3, 2, requires_grad=True), torch.tensor([[0, 1], [2, 0]])
    each = F.nll_loss(x, target, reduction="none")
    assert each.shape == (2, 2) and each.grad_fn.name() == "ViewBackward0"
    assert F.nll_loss(x, target).grad_fn.name() == "NllLoss2DBackward0"
    assert F.nll_loss(x[0, :, 0], torch.tensor(1), reduction="none").item() == -1
    assert F.nll_loss(torch.ones(0, 3, 2), target[:0], reduction="none").shape == (0, 2)
