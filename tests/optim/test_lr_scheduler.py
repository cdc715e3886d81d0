"""Schedules: the rates of two groups and the momentum over 50 epochs. The values are PyTorch's."""

import copy
import warnings

import pytest

import tapegrad as torch
from tapegrad.optim import lr_scheduler as L
from tapegrad.optim import swa_utils as S
from tests.messages import raises

#: the scheduler; epoch, rate of the first and of the second group, momentum
CASES = [
    (
        lambda o: L.LambdaLR(o, [lambda e: 0.95**e, lambda e: 1 / (1 + e)]),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.095, 0.25, 0.9),
            (2, 0.09025, 0.166666667, 0.9),
            (5, 0.0773780937, 0.0833333333, 0.9),
            (9, 0.063024941, 0.05, 0.9),
            (10, 0.0598736939, 0.0454545455, 0.9),
            (21, 0.0340561626, 0.0227272727, 0.9),
            (33, 0.018402591, 0.0147058824, 0.9),
            (49, 0.00809947108, 0.01, 0.9),
        ],
    ),
    (
        lambda o: L.MultiplicativeLR(o, lambda e: 0.9 if e % 3 else 1.1),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.09, 0.45, 0.9),
            (2, 0.081, 0.405, 0.9),
            (5, 0.072171, 0.360855, 0.9),
            (9, 0.0707347971, 0.353673986, 0.9),
            (10, 0.0636613174, 0.318306587, 0.9),
            (21, 0.0445803967, 0.222901983, 0.9),
            (33, 0.0280966631, 0.140483316, 0.9),
            (49, 0.014199916, 0.0709995798, 0.9),
        ],
    ),
    (
        lambda o: L.StepLR(o, 7, gamma=0.5),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.1, 0.5, 0.9),
            (2, 0.1, 0.5, 0.9),
            (5, 0.1, 0.5, 0.9),
            (9, 0.05, 0.25, 0.9),
            (10, 0.05, 0.25, 0.9),
            (21, 0.0125, 0.0625, 0.9),
            (33, 0.00625, 0.03125, 0.9),
            (49, 0.00078125, 0.00390625, 0.9),
        ],
    ),
    (
        lambda o: L.MultiStepLR(o, [20, 3, 9, 9, 30], gamma=0.5),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.1, 0.5, 0.9),
            (2, 0.1, 0.5, 0.9),
            (5, 0.05, 0.25, 0.9),
            (9, 0.0125, 0.0625, 0.9),
            (10, 0.0125, 0.0625, 0.9),
            (21, 0.00625, 0.03125, 0.9),
            (33, 0.003125, 0.015625, 0.9),
            (49, 0.003125, 0.015625, 0.9),
        ],
    ),
    (
        lambda o: L.ConstantLR(o, factor=0.3, total_iters=11),
        [
            (0, 0.03, 0.15, 0.9),
            (1, 0.03, 0.15, 0.9),
            (2, 0.03, 0.15, 0.9),
            (5, 0.03, 0.15, 0.9),
            (9, 0.03, 0.15, 0.9),
            (10, 0.03, 0.15, 0.9),
            (21, 0.1, 0.5, 0.9),
            (33, 0.1, 0.5, 0.9),
            (49, 0.1, 0.5, 0.9),
        ],
    ),
    (
        lambda o: L.LinearLR(o, 0.2, 0.9, total_iters=13),
        [
            (0, 0.02, 0.1, 0.9),
            (1, 0.0253846154, 0.126923077, 0.9),
            (2, 0.0307692308, 0.153846154, 0.9),
            (5, 0.0469230769, 0.234615385, 0.9),
            (9, 0.0684615385, 0.342307692, 0.9),
            (10, 0.0738461538, 0.369230769, 0.9),
            (21, 0.09, 0.45, 0.9),
            (33, 0.09, 0.45, 0.9),
            (49, 0.09, 0.45, 0.9),
        ],
    ),
    (
        lambda o: L.ExponentialLR(o, 0.93),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.093, 0.465, 0.9),
            (2, 0.08649, 0.43245, 0.9),
            (5, 0.0695688369, 0.347844185, 0.9),
            (9, 0.0520411083, 0.260205541, 0.9),
            (10, 0.0483982307, 0.241991154, 0.9),
            (21, 0.0217842153, 0.108921076, 0.9),
            (33, 0.00911879185, 0.0455939592, 0.9),
            (49, 0.00285538372, 0.0142769186, 0.9),
        ],
    ),
    (
        lambda o: L.PolynomialLR(o, 30, power=2.0),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.0934444444, 0.467222222, 0.9),
            (2, 0.0871111111, 0.435555556, 0.9),
            (5, 0.0694444444, 0.347222222, 0.9),
            (9, 0.049, 0.245, 0.9),
            (10, 0.0444444444, 0.222222222, 0.9),
            (21, 0.009, 0.045, 0.9),
            (33, 0.0, 0.0, 0.9),
            (49, 0.0, 0.0, 0.9),
        ],
    ),
    (
        lambda o: L.CosineAnnealingLR(o, 9, eta_min=0.01),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.0972861679, 0.485224692, 0.9),
            (2, 0.0894719999, 0.442680889, 0.9),
            (5, 0.047185832, 0.212456196, 0.9),
            (9, 0.01, 0.01, 0.9),
            (10, 0.0127138321, 0.0247753079, 0.9),
            (21, 0.0775, 0.3775, 0.9),
            (33, 0.0775, 0.3775, 0.9),
            (49, 0.047185832, 0.212456196, 0.9),
        ],
    ),
    (
        lambda o: L.CosineAnnealingWarmRestarts(o, 5, T_mult=2, eta_min=0.01),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.0914057647, 0.453209164, 0.9),
            (2, 0.0689057647, 0.330709164, 0.9),
            (5, 0.1, 0.5, 0.9),
            (9, 0.0689057647, 0.330709164, 0.9),
            (10, 0.055, 0.255, 0.9),
            (21, 0.0814503364, 0.399007387, 0.9),
            (33, 0.0122024568, 0.0219911535, 0.9),
            (49, 0.0754295725, 0.366227672, 0.9),
        ],
    ),
    (
        lambda o: L.CosineAnnealingWarmRestarts(o, 7),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.0950484434, 0.475242217, 0.9),
            (2, 0.0811744901, 0.40587245, 0.9),
            (5, 0.0188255099, 0.0941275495, 0.9),
            (9, 0.0811744901, 0.40587245, 0.9),
            (10, 0.0611260467, 0.305630233, 0.9),
            (21, 0.1, 0.5, 0.9),
            (33, 0.0188255099, 0.0941275495, 0.9),
            (49, 0.1, 0.5, 0.9),
        ],
    ),
    (
        lambda o: L.CyclicLR(o, 0.01, 0.2, step_size_up=6, step_size_down=4),
        [
            (0, 0.01, 0.01, 0.9),
            (1, 0.0416666667, 0.0416666667, 0.883333333),
            (2, 0.0733333333, 0.0733333333, 0.866666667),
            (5, 0.168333333, 0.168333333, 0.816666667),
            (9, 0.0575, 0.0575, 0.875),
            (10, 0.01, 0.01, 0.9),
            (21, 0.0416666667, 0.0416666667, 0.883333333),
            (33, 0.105, 0.105, 0.85),
            (49, 0.0575, 0.0575, 0.875),
        ],
    ),
    (
        lambda o: L.CyclicLR(
            o, [0.01, 0.02], [0.2, 0.3], step_size_up=6, mode="triangular2", cycle_momentum=False
        ),
        [
            (0, 0.01, 0.02, 0.9),
            (1, 0.0416666667, 0.0666666667, 0.9),
            (2, 0.0733333333, 0.113333333, 0.9),
            (5, 0.168333333, 0.253333333, 0.9),
            (9, 0.105, 0.16, 0.9),
            (10, 0.0733333333, 0.113333333, 0.9),
            (21, 0.0575, 0.09, 0.9),
            (33, 0.03375, 0.055, 0.9),
            (49, 0.0119791667, 0.0229166667, 0.9),
        ],
    ),
    (
        lambda o: L.CyclicLR(o, 0.01, 0.2, step_size_up=6, mode="exp_range", gamma=0.97),
        [
            (0, 0.01, 0.01, 0.9),
            (1, 0.0407166667, 0.0407166667, 0.883833333),
            (2, 0.0695903333, 0.0695903333, 0.868636667),
            (5, 0.145966221, 0.145966221, 0.828438831),
            (9, 0.0822219506, 0.0822219506, 0.861988447),
            (10, 0.056703528, 0.056703528, 0.875419196),
            (21, 0.0601106487, 0.0601106487, 0.873625974),
            (33, 0.0447688908, 0.0447688908, 0.881700584),
            (49, 0.0171189727, 0.0171189727, 0.896253172),
        ],
    ),
    (
        lambda o: L.CyclicLR(
            o, 0.01, 0.2, step_size_up=6, scale_fn=lambda x: 0.9**x, scale_mode="iterations"
        ),
        [
            (0, 0.01, 0.01, 0.9),
            (1, 0.0385, 0.0385, 0.885),
            (2, 0.0613, 0.0613, 0.873),
            (5, 0.10349425, 0.10349425, 0.8507925),
            (9, 0.0468049465, 0.0468049465, 0.880628976),
            (10, 0.0320829679, 0.0320829679, 0.888377385),
            (21, 0.020394804, 0.020394804, 0.894529051),
            (33, 0.0129357997, 0.0129357997, 0.898454842),
            (49, 0.0101813365, 0.0101813365, 0.89990456),
        ],
    ),
    (
        lambda o: L.OneCycleLR(o, 0.3, total_steps=52),
        [
            (0, 0.012, 0.012, 0.95),
            (1, 0.015320857, 0.015320857, 0.948846925),
            (2, 0.0251302602, 0.0251302602, 0.945440882),
            (5, 0.0876070456, 0.0876070456, 0.923747554),
            (9, 0.207508546, 0.207508546, 0.882115088),
            (10, 0.235033386, 0.235033386, 0.872557852),
            (21, 0.277692755, 0.277692755, 0.857435778),
            (33, 0.147411514, 0.147411514, 0.900863032),
            (49, 0.00223034273, 0.00223034273, 0.949256949),
        ],
    ),
    (
        lambda o: L.OneCycleLR(
            o,
            [0.3, 0.4],
            epochs=13,
            steps_per_epoch=4,
            three_phase=True,
            anneal_strategy="linear",
            pct_start=0.35,
        ),
        [
            (0, 0.012, 0.016, 0.95),
            (1, 0.028744186, 0.0383255814, 0.944186047),
            (2, 0.0454883721, 0.0606511628, 0.938372093),
            (5, 0.0957209302, 0.127627907, 0.920930233),
            (9, 0.162697674, 0.216930233, 0.897674419),
            (10, 0.17944186, 0.239255814, 0.891860465),
            (21, 0.236372093, 0.315162791, 0.872093023),
            (33, 0.0354418605, 0.047255814, 0.941860465),
            (49, 0.00144683855, 0.00192911807, 0.95),
        ],
    ),
    (
        lambda o: L.SequentialLR(
            o,
            [L.ConstantLR(o, 0.1, 5), L.ExponentialLR(o, 0.9), L.CosineAnnealingLR(o, 8)],
            [6, 21],
        ),
        [
            (0, 0.01, 0.05, 0.9),
            (1, 0.01, 0.05, 0.9),
            (2, 0.01, 0.05, 0.9),
            (5, 0.1, 0.5, 0.9),
            (9, 0.0729, 0.3645, 0.9),
            (10, 0.06561, 0.32805, 0.9),
            (21, 0.1, 0.5, 0.9),
            (33, 0.05, 0.25, 0.9),
            (49, 0.05, 0.25, 0.9),
        ],
    ),
    (
        lambda o: L.SequentialLR(
            o,
            [
                L.SequentialLR(o, [L.LinearLR(o, 0.1, 1.0, 4), L.StepLR(o, 3)], [4]),
                L.PolynomialLR(o, 10),
            ],
            [20],
        ),
        [
            (0, 0.01, 0.05, 0.9),
            (1, 0.0325, 0.1625, 0.9),
            (2, 0.055, 0.275, 0.9),
            (5, 0.1, 0.5, 0.9),
            (9, 0.001, 0.005, 0.9),
            (10, 0.001, 0.005, 0.9),
            (21, 0.09, 0.45, 0.9),
            (33, 0.0, 0.0, 0.9),
            (49, 0.0, 0.0, 0.9),
        ],
    ),
    (
        lambda o: S.SWALR(o, 0.05, anneal_epochs=8),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.0980969883, 0.482872895, 0.9),
            (2, 0.0926776695, 0.434099026, 0.9),
            (5, 0.0654329142, 0.188896228, 0.9),
            (9, 0.05, 0.05, 0.9),
            (10, 0.05, 0.05, 0.9),
            (21, 0.05, 0.05, 0.9),
            (33, 0.05, 0.05, 0.9),
            (49, 0.05, 0.05, 0.9),
        ],
    ),
    (
        lambda o: S.SWALR(o, [0.05, 0.01], anneal_epochs=8, anneal_strategy="linear"),
        [
            (0, 0.1, 0.5, 0.9),
            (1, 0.09375, 0.43875, 0.9),
            (2, 0.0875, 0.3775, 0.9),
            (5, 0.06875, 0.19375, 0.9),
            (9, 0.05, 0.01, 0.9),
            (10, 0.05, 0.01, 0.9),
            (21, 0.05, 0.01, 0.9),
            (33, 0.05, 0.01, 0.9),
            (49, 0.05, 0.01, 0.9),
        ],
    ),
    (
        lambda o: S.SWALR(o, 0.05, anneal_epochs=0),
        [
            (0, 0.05, 0.05, 0.9),
            (1, 0.05, 0.05, 0.9),
            (2, 0.05, 0.05, 0.9),
            (5, 0.05, 0.05, 0.9),
            (9, 0.05, 0.05, 0.9),
            (10, 0.05, 0.05, 0.9),
            (21, 0.05, 0.05, 0.9),
            (33, 0.05, 0.05, 0.9),
            (49, 0.05, 0.05, 0.9),
        ],
    ),
    (
        lambda o: L.ChainedScheduler([L.ConstantLR(o, 0.1, 5), L.ExponentialLR(o, 0.9)]),
        [
            (0, 0.01, 0.05, 0.9),
            (1, 0.009, 0.045, 0.9),
            (2, 0.0081, 0.0405, 0.9),
            (5, 0.059049, 0.295245, 0.9),
            (9, 0.0387420489, 0.193710245, 0.9),
            (10, 0.034867844, 0.17433922, 0.9),
            (21, 0.0109418989, 0.0547094946, 0.9),
            (33, 0.00309031544, 0.0154515772, 0.9),
            (49, 0.00057264169, 0.00286320845, 0.9),
        ],
    ),
]


def two_groups(**options):
    rates = (0.1, 0.5)
    groups = [{"params": [torch.ones(1, requires_grad=True)], "lr": lr} for lr in rates]
    return torch.optim.SGD(groups, momentum=0.9, **options)


def seen(optimizer):
    return (*(group["lr"] for group in optimizer.param_groups), momentum_of(optimizer))


def momentum_of(optimizer):
    return optimizer.param_groups[0]["momentum"]


def go(optimizer, scheduler, n=1):
    for _ in range(n):
        optimizer.step()
        scheduler.step()


@pytest.mark.filterwarnings("ignore:Detected call")  # schedulers inside schedulers, as PyTorch's
@pytest.mark.parametrize(("make", "expected"), CASES)
def test_rates_and_momentum_are_those_of_pytorch(make, expected):
    optimizer = two_groups()
    scheduler = make(optimizer)
    epoch = 0
    for later, *numbers in expected:
        go(optimizer, scheduler, later - epoch)
        epoch = later
        assert seen(optimizer) == pytest.approx(tuple(numbers), rel=1e-7, abs=1e-12)
        assert tuple(scheduler.get_last_lr()) == seen(optimizer)[:2]


@pytest.mark.filterwarnings("ignore:Detected call")  # schedulers inside schedulers, as PyTorch's
@pytest.mark.parametrize(("make", "expected"), CASES)
def test_a_schedule_continues_after_saving_and_loading(make, expected):
    optimizer, other = two_groups(), two_groups()
    scheduler, again = make(optimizer), make(other)
    go(optimizer, scheduler, 17)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    again.load_state_dict(copy.deepcopy(scheduler.state_dict()))
    go(optimizer, scheduler, 10)
    go(other, again, 10)
    assert seen(other) == seen(optimizer)


CLOSED_FORMS = "LambdaLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR PolynomialLR"
CLOSED = [make for make, _ in CASES if make.__code__.co_names[1] in CLOSED_FORMS.split()]


@pytest.mark.parametrize("make", CLOSED)
def test_the_closed_form_is_the_chained_one(make):
    optimizer, other = two_groups(), two_groups()
    scheduler, jumping = make(optimizer), make(other)
    go(optimizer, scheduler, 8)
    other.step()
    with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step"):
        jumping.step(8)
    assert seen(other) == pytest.approx(seen(optimizer))


def test_a_plateau_is_left_with_a_smaller_rate():
    optimizer = two_groups()
    scheduler = L.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=1, min_lr=0.02)
    rates = []
    for loss in (3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 2.0):
        scheduler.step(loss)
        rates.append(seen(optimizer)[0])
    assert rates == [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.025, 0.025]
    state = scheduler.state_dict()
    assert (state["best"], state["num_bad_epochs"], state["last_epoch"]) == (1.0, 1, 11)


def test_modes_of_a_plateau():
    optimizer = two_groups()
    scheduler = L.ReduceLROnPlateau(
        optimizer, mode="max", patience=0, threshold=0.5, threshold_mode="abs"
    )
    for value in (1.0, 1.4, 1.6):  # 1.4 is not enough
        scheduler.step(torch.tensor(value))
    assert seen(optimizer)[0] == pytest.approx(0.01)
    assert scheduler.best == pytest.approx(1.6)


def test_a_rate_that_is_a_tensor_stays_the_same_tensor():
    rate = torch.tensor(0.5)
    optimizer = torch.optim.SGD([torch.ones(1)], lr=rate)
    scheduler = L.StepLR(optimizer, 1)
    go(optimizer, scheduler)
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == pytest.approx(0.05)
    assert scheduler.base_lrs[0].item() == 0.5


def test_the_first_beta_is_the_momentum_of_adam():
    optimizer = torch.optim.Adam([torch.ones(1)])
    scheduler = L.OneCycleLR(optimizer, 0.3, total_steps=10)
    go(optimizer, scheduler, 2)
    assert optimizer.param_groups[0]["betas"] == pytest.approx((0.85, 0.999))


class Root:
    def __init__(self, power):
        self.power = power

    def __call__(self, epoch):
        return (1 + epoch) ** -self.power


def test_callable_objects_are_saved_with_what_they_remember():
    scheduler = L.LambdaLR(two_groups(), [Root(0.5), lambda epoch: 1.0])
    state = scheduler.state_dict()
    assert state["lr_lambdas"] == [{"power": 0.5}, None]
    other = L.LambdaLR(two_groups(), [Root(2.0), lambda epoch: 1.0])
    other.load_state_dict(state)
    assert other.lr_lambdas[0].power == 0.5


# --- warnings ------------------------------------------------------------------------------------


def test_a_scheduler_that_is_stepped_first_warns_once():
    scheduler = L.StepLR(two_groups(), 2)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_a_step_that_was_replaced_is_told_of():
    optimizer = two_groups()
    scheduler = L.StepLR(optimizer, 2)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden after learning rate scheduler"):
        scheduler.step()


def test_get_lr_is_for_the_inside():
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        assert L.ExponentialLR(two_groups(), 0.5).get_lr() == [0.05, 0.25]


# --- errors --------------------------------------------------------------------------------------

REFUSED = [
    (lambda o: L.LambdaLR(o, [abs]), "Expected 2 lr_lambdas, but got 1"),
    (
        lambda o: L.ConstantLR(o, factor=2.0),
        "Constant multiplicative factor expected to be between 0 and 1.",
    ),
    (
        lambda o: L.LinearLR(o, start_factor=0.0),
        "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.",
    ),
    (
        lambda o: L.LinearLR(o, end_factor=2.0),
        "Ending multiplicative factor expected to be between 0 and 1.",
    ),
    (
        lambda o: L.SequentialLR(o, [], []),
        "SequentialLR expects at least one scheduler, but got no scheduler.",
    ),
    (
        lambda o: L.ChainedScheduler([L.ReduceLROnPlateau(o)]),
        "ChainedScheduler does not support `ReduceLROnPlateau` scheduler as it requires "
        "additional kwargs to be specified when calling `step`, but got one at index 0 in the "
        "given schedulers sequence.",
    ),
    (lambda o: L.ReduceLROnPlateau(o, factor=1.0), "Factor should be < 1.0."),
    (lambda o: L.ReduceLROnPlateau(o, mode="x"), "mode x is unknown!"),
    (lambda o: L.ReduceLROnPlateau(o, min_lr=[1]), "expected 2 min_lrs, got 1"),
    (lambda o: L.CyclicLR(o, 0.1, 0.2, mode="x"), "mode is invalid and scale_fn is None"),
    (
        lambda o: L.CyclicLR(o, [0.1], 0.2),
        "base_lr must have the same length as optimizer.param_groups. base_lr has 1 values, "
        "param_groups has 2.",
    ),
    (
        lambda o: L.CyclicLR(torch.optim.Adagrad([torch.ones(1)]), 0.1, 0.2),
        "optimizer must support momentum or beta1 with `cycle_momentum` option enabled",
    ),
    (lambda o: L.CosineAnnealingWarmRestarts(o, 2.5), "Expected positive integer T_0, but got 2.5"),
    (
        lambda o: L.OneCycleLR(o, 0.1, epochs=1),
        "You must define either total_steps OR (epochs AND steps_per_epoch)",
    ),
    (
        lambda o: S.SWALR(o, 0.1, anneal_epochs=-1),
        "anneal_epochs must be equal or greater than 0, got -1",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_wrong_arguments_are_refused_as_in_pytorch(make, message):
    with raises(ValueError, message):
        make(two_groups())


def test_what_is_no_optimizer_is_refused():
    with raises(TypeError, "int is not an Optimizer"):
        L.StepLR(3, 1)


def test_one_cycle_ends():
    optimizer = two_groups()
    scheduler = L.OneCycleLR(optimizer, 0.1, total_steps=3)
    go(optimizer, scheduler, 3)
    with raises(ValueError, "Tried to step 4 times. The specified number of total steps is 3"):
        go(optimizer, scheduler)


def test_resuming_needs_the_first_rates():
    with pytest.raises(KeyError, match="param 'initial_lr' is not specified in param_groups"):
        L.StepLR(two_groups(), 2, last_epoch=5)


def test_a_group_that_came_later_needs_another_scheduler():
    optimizer = torch.optim.SGD([torch.ones(1)], lr=1.0)
    scheduler = L.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    optimizer.add_param_group({"params": [torch.ones(1)]})
    optimizer.step()
    with raises(ValueError, "zip() argument 2 is shorter than argument 1"):
        scheduler.step()
    assert [group["lr"] for group in optimizer.param_groups] == [1.0, 1.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda optimizer: S.SWALR(optimizer, 0.1, anneal_strategy="wavy"),
        lambda optimizer: L.CyclicLR(optimizer, 0.1, 1.0, mode="wavy"),
        lambda optimizer: L.OneCycleLR(optimizer, 0.1, total_steps=9),
    ],
)
def test_a_scheduler_that_is_refused_leaves_the_groups_alone(make):
    optimizer = torch.optim.Rprop([torch.ones(1)], lr=1.0)
    before = copy.deepcopy(optimizer.state_dict())
    with pytest.raises(ValueError):
        make(optimizer)
    assert optimizer.state_dict() == before


def test_a_plateau_remembers_rates_that_are_tensors_by_value():
    rate = torch.tensor(1.0)
    optimizer = torch.optim.SGD([torch.ones(1)], lr=rate)
    scheduler = L.ReduceLROnPlateau(optimizer)
    scheduler.step(1.0)
    rate.fill_(0.5)
    assert scheduler.get_last_lr() == [torch.tensor(1.0)]


def test_bounds_given_as_tensors_may_be_written_to_afterwards():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1, momentum=0.9)
    high = torch.tensor(0.9)
    schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.2, max_momentum=high)
    high.zero_()
    assert float(optimizer.param_groups[0]["max_momentum"]) == pytest.approx(0.9)
    assert schedule.max_momentums[0] is not high


def test_the_warning_of_an_epoch_has_a_name():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    optimizer.step()
    with pytest.warns(UserWarning) as found:
        schedule.step(1)
    assert str(found[0].message) == torch.optim.lr_scheduler.EPOCH_DEPRECATION_WARNING
    assert found[0].filename == __file__


def test_get_lr_of_a_scheduler_of_ones_own_may_be_asked_for_without_a_warning(recwarn):
    scheduler = L.StepLR(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5), 1)
    with L._enable_get_lr_call(scheduler) as found:
        assert found is scheduler
        scheduler.get_lr()
    assert not recwarn.list
    scheduler.get_lr()
    assert "use `get_last_lr()`" in str(recwarn.pop().message)
