"""The examples run small, learn something, and end with the figure that the README states."""

import importlib.util
import re

import numpy as np
import pytest

import tapegrad
from tests.pages import README, ROOT

EXAMPLES = ROOT / "examples"
ROW = re.compile(
    r"^\| \[.*?\]\(examples/\w+\.py\) \| `python examples/(\w+)\.py (.*?)` \| (.*?) \| (.*?) \|$",
    re.MULTILINE,
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

ROWS = {row[1]: row for row in ROW.finditer(README.read_text(encoding="utf-8"))}


def load(name):
    """The file examples/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(capsys, seed):
    """A function that runs an example; the numbers of each line of what it prints.

    Its last line must be the figure of the README, with numbers of its own.
    """

    def run(name, *argv):
        load(name).main(argv)
        lines = capsys.readouterr().out.splitlines()
        assert NUMBER.sub("#", lines[-1]) == NUMBER.sub("#", ROWS[name][3])
        return [(line, [float(number) for number in NUMBER.findall(line)]) for line in lines]

    return run


def scripts():
    return sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "transfer_body")


@pytest.mark.parametrize("name", scripts())
def test_the_readme_has_a_row_with_a_command_that_the_example_takes(name, capsys):
    row = ROWS[name]
    options = re.findall(r"--\w+", row[2])
    assert options
    with pytest.raises(SystemExit):
        load(name).main(["--help"])
    usage = capsys.readouterr().out
    assert [option for option in options if option not in usage] == []
    assert NUMBER.search(row[3])
    assert re.fullmatch(r"\d+ s", row[4])


# --- digits --------------------------------------------------------------------------------------


def test_the_network_reads_digits_after_three_epochs(run):
    printed = run("digits", "--epochs", "3")
    losses = [numbers[-1] for line, numbers in printed if line.startswith("epoch")]
    assert losses[2] < losses[1] < losses[0]
    assert printed[-1][1][0] > 94  # per cent; a guess is right 10 times in 100


# --- vae -----------------------------------------------------------------------------------------


def test_the_autoencoder_is_soon_better_than_pixels_by_themselves(run):
    printed = run("vae", "--epochs", "8")
    bounds = [numbers[-1] for line, numbers in printed if line.startswith("epoch")]
    assert bounds == sorted(bounds)
    (alone,) = (numbers[-1] for line, numbers in printed if "each pixel by itself" in line)
    assert -150 < printed[-1][1][0]
    assert alone == pytest.approx(-254.6, abs=0.1)
    assert sum("▓" in line for line, _ in printed) > 8  # rows of the digits that it draws


def test_the_chances_of_all_values_of_a_pixel_add_up_to_one():
    vae = load("vae")
    torch = vae.torch
    values = torch.arange(17.0).unsqueeze(1) / 16  # (17, 1): images of a single pixel
    chances = vae.log_likelihood(torch.full((17, 1), -0.7), values).exp()
    assert chances.sum().item() == pytest.approx(1, abs=1e-5)
    assert (chances * values.squeeze(1)).sum().item() == pytest.approx(0.3318122, abs=1e-5)


# --- reinforce -----------------------------------------------------------------------------------


def test_the_policy_learns_to_balance_for_longer(run):
    printed = run("reinforce", "--rounds", "30")
    means = [numbers[-1] for line, numbers in printed if line.startswith("round")]
    assert len(means) == 3
    assert 15 < means[0] < 70  # about 22 where the pushes are left to chance
    assert means[2] > 1.3 * means[0]


def test_carts_move_as_the_equations_of_motion_say():
    reinforce = load("reinforce")
    carts = reinforce.CartPoles(5, seed=3)
    before = carts.reset() * 3
    carts.state = before
    right = np.array([True, False, True, True, False])
    after, _ = carts.step(right)
    _, speed, angle, spin = before.T
    rate = (after - before) / carts.STEP_S
    assert rate[:, 0] == pytest.approx(speed) and rate[:, 2] == pytest.approx(spin)
    # Lagrange's equations of a cart (1 kg) that carries a rod (0.1 kg, 1 m).
    a, b, half, mass = rate[:, 1], rate[:, 3], 0.5, 0.1
    cart = 1.1 * a + mass * half * (b * np.cos(angle) - spin**2 * np.sin(angle))
    assert cart == pytest.approx(np.where(right, 10.0, -10.0))
    rod = 4 / 3 * half * b + a * np.cos(angle)
    assert rod == pytest.approx(9.8 * np.sin(angle))


def test_an_episode_ends_where_the_pole_or_the_cart_is_too_far_off():
    carts = load("reinforce").CartPoles(4, seed=0)
    carts.state = np.array([[0.0] * 4, [2.5, 0, 0, 0], [0, 0, 0.22, 0], [0, 0, -0.2, 0]])
    assert carts.step(np.ones(4, dtype=bool))[1].tolist() == [False, True, True, False]


def test_returns_are_discounted_sums_of_what_follows():
    reinforce = load("reinforce")
    rewards = reinforce.torch.tensor([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    expected = [[1 + 0.99 + 0.99**2, 1], [1 + 0.99, 0], [1, 0]]
    assert reinforce.returns_of(rewards).numpy() == pytest.approx(np.array(expected))


# --- transfer ------------------------------------------------------------------------------------


def test_transfer_reads_more_digits_than_a_network_from_scratch(run):
    shots, with_transfer, without = run("transfer", "--draws", "3")[-1][1]
    assert shots == 2
    assert with_transfer > without > 60


def test_the_body_has_the_weights_of_the_file_and_is_frozen():
    transfer = load("transfer")
    body, saved = transfer.pretrained_body(), transfer.torch.load(transfer.FILE)
    assert all((saved[key] == value).all() for key, value in body.state_dict().items())
    assert (
        not body.training
        and not transfer.pretrained_body()(transfer.unseen_digits()[0]).requires_grad
    )


def test_a_live_model_of_pytorch_computes_the_same_features(monkeypatch):
    if pytest.importorskip("torch", reason="PyTorch is not installed") is tapegrad:
        pytest.skip("`import torch` is served by tapegrad: there is no other")
    monkeypatch.syspath_prepend(EXAMPLES)
    assert load("transfer").convert_a_live_model() < 1e-4
