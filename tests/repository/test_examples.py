"""The examples run small, learn something, and end with the figure that the README states."""

import importlib.util
import re

import numpy as np
import pytest

import tapegrad
from tests.repository.pages import README, ROOT

COMPILE = tapegrad.compile
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

    Its last line must be the figure of the README, with numbers of its own. `sizes` replace the
    example's.
    """

    def run(name, *argv, **sizes):
        module = load(name)
        assert sizes.keys() <= vars(module).keys()
        vars(module).update(sizes)
        module.main(argv)
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


SMALL = {  # what an example takes to be short
    "digits": (["--epochs", "1"], {}),
    "gpt": (["--steps", "4"], {"LAYERS": 1, "WIDTH": 32, "SAMPLE": 5, "HELD_BACK": 16}),
    "ode": (["--steps", "4"], {"POINTS": 100}),
    "pinn": (["--steps", "2"], {"POINTS": 100, "DEPTH": 2}),
    "reinforce": (["--rounds", "2"], {}),
    "series": (["--steps", "4"], {"HIDDEN": 16, "LENGTH": 64}),
    "transfer": (["--draws", "1"], {}),
    "vae": (["--epochs", "2"], {}),
}


@pytest.mark.parametrize("name", scripts())
def test_compiled_to_numpy_it_prints_the_same_figures(name, run, monkeypatch):
    compiled = []

    def compile(function):
        compiled.append(COMPILE(function, backend="numpy"))
        return compiled[-1]

    monkeypatch.setattr("tapegrad.compile", compile)
    argv, sizes = SMALL[name]
    plain = run(name, *argv, **sizes)
    assert compiled == []
    figures = run(name, *argv, "--compile", **sizes)
    assert [line for line, _ in figures if "CPU time" not in line] == [
        line for line, _ in plain if "CPU time" not in line
    ]
    assert compiled and all("def program" in each.source for each in compiled)


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


@pytest.mark.usefixtures("pytorch")
def test_a_live_model_of_pytorch_computes_the_same_features(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    assert load("transfer").convert_a_live_model() < 1e-4


# --- gpt -----------------------------------------------------------------------------------------


def test_the_gpt_learns_which_characters_follow(run):
    printed = run("gpt", "--steps", "60", LAYERS=2, WIDTH=64, SAMPLE=20, HELD_BACK=64)
    losses = [numbers[-1] for line, numbers in printed if line.startswith("step")]
    assert losses[0] > 3.5
    assert printed[-1][1] == [60, pytest.approx(2.75, abs=0.25)]  # the letters' frequencies: 3.1


def test_the_gpt_sees_nothing_of_what_follows(seed):
    gpt = load("gpt")
    torch, model = gpt.torch, gpt.GPT(vocabulary=7)
    tokens = torch.randint(7, (2, 20))
    other = tokens.clone()
    other[:, 12:] = (other[:, 12:] + 1) % 7
    with torch.no_grad():
        difference = (model(tokens) - model(other)).abs().amax(dim=(0, 2))
    assert difference[:12].max() < 1e-6 < 1e-3 < difference[12:].min()


# --- series --------------------------------------------------------------------------------------


def test_the_forecast_is_soon_better_than_the_naive_one(run):
    printed = run("series", "--steps", "60", HIDDEN=32)
    losses = [numbers[-1] for line, numbers in printed if line.startswith("step")]
    assert losses[-1] < losses[0] / 4
    assert printed[-1][1][1] < 0.5


def test_the_series_follows_its_equation():
    series = load("series")
    x = series.mackey_glass(500).numpy().astype(np.float64)
    late, now = x[:-18], x[17:-1]
    rate = 0.2 * late / (1 + late**10) - 0.1 * now
    assert (x[18:] - x[16:-2]) / 2 == pytest.approx(rate, abs=0.01)  # of up to 0.1
    assert 0.2 < x.min() < 0.5 and 1.2 < x.max() < 1.4


# --- pinn ----------------------------------------------------------------------------------------


def test_the_network_comes_nearer_to_the_solution(run):
    printed = run("pinn", "--steps", "12", POINTS=200, DEPTH=3)
    losses, errors = zip(*(n[2:] for line, n in printed if line.startswith("step")), strict=True)
    assert losses[-1] < losses[2] < losses[0] / 10
    assert errors[-1] < 0.5 * errors[0]
    assert printed[-1][1] == [12, errors[-1]]


def test_the_exact_solution_fulfils_the_equation():
    pinn = load("pinn")
    h = 1e-4
    t, x = (part.reshape(-1) for part in np.meshgrid([0.2, 0.6], np.linspace(-0.9, 0.9, 10)))
    u = pinn.exact(t, x)
    u_t = (pinn.exact(t + h, x) - pinn.exact(t - h, x)) / (2 * h)
    ahead, behind = pinn.exact(t, x + h), pinn.exact(t, x - h)
    u_x, u_xx = (ahead - behind) / (2 * h), (ahead - 2 * u + behind) / h**2
    assert u_t + u * u_x == pytest.approx(pinn.NU * u_xx, abs=1e-4)
    assert pinn.exact(np.array([1e-9]), np.array([0.5])) == pytest.approx(-1, abs=1e-4)


def test_the_residual_of_a_known_function_is_what_the_equation_says():
    pinn = load("pinn")
    t, x = pinn.torch.full((3, 1), 0.5), pinn.torch.tensor([[-0.5], [0.25], [1.0]])
    residual = pinn.residual(lambda tx: tx[:, :1] * tx[:, 1:] ** 2, t, x)  # u = t x**2
    expected = x**2 + (t * x**2) * (2 * t * x) - pinn.NU * 2 * t
    assert residual.detach().numpy() == pytest.approx(expected.numpy(), abs=1e-6)


# --- ode -----------------------------------------------------------------------------------------


def test_the_law_is_soon_found_roughly(run):
    printed = run("ode", "--steps", "40", POINTS=400)
    losses = [numbers[-1] for line, numbers in printed if line.startswith("step")]
    assert losses[-1] < losses[0] / 4
    assert printed[-1][1][1] < 0.4


def test_the_adjoint_gives_the_gradients_of_going_back_through_the_solver(seed):
    ode = load("ode")
    torch, law = ode.torch, ode.network()
    y = torch.randn(3, 2, requires_grad=True)
    weights = torch.randn(8, 3, 2)
    wanted = (y, *law.parameters())
    paths = ode.Adjoint.apply(law, 0.05, 8, y, *law.parameters()), ode.solve(law, y, 0.05, 8)
    adjoint, direct = (torch.autograd.grad((path * weights).sum(), wanted) for path in paths)
    for a, b in zip(adjoint, direct, strict=True):
        assert a.numpy() == pytest.approx(b.numpy(), abs=1e-5)
        assert b.abs().max() > 0.1


def test_the_solver_is_of_fourth_order():
    ode = load("ode")
    start = ode.torch.ones(1, dtype=ode.torch.float64)
    errors = [
        abs(ode.solve(lambda y: -y, start, 1 / n, n + 1)[-1].item() - np.exp(-1)) for n in (10, 20)
    ]
    assert errors[0] / errors[1] == pytest.approx(2**4, rel=0.1)
