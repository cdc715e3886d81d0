"""`export_memory_timeline`: files of the bytes over time, in PyTorch's form."""

import gzip
import json
import re

import pytest

import tapegrad as torch
from tapegrad.profiler import profile

nn = torch.nn
ALL = {"record_shapes": True, "profile_memory": True, "with_stack": True}
PREEXISTING, CREATE, DESTROY = 1, 2, 4
PARAMETER, STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, DETAIL = range(7)

pytestmark = pytest.mark.filterwarnings("ignore:`export_memory_timeline` is deprecated")


@pytest.fixture(scope="module")
def prof():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, target = torch.ones(5, 4), torch.tensor([0, 1, 2, 0, 1])
    with profile(**ALL) as prof:
        nn.functional.cross_entropy(model(x), target).backward()
        optimizer.step()
    prof.kept = model, optimizer
    return prof


def read(path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        return json.load(file)


def export(prof, path, **options):
    prof.export_memory_timeline(str(path), **options)
    return path


def test_each_array_has_a_line_with_what_it_was_for(prof, tmp_path):
    lines = read(export(prof, tmp_path / "memory.raw.json.gz"))
    before = [(n, category) for _, action, n, category in lines if action == PREEXISTING]
    parameters = [(n, PARAMETER) for n in (12, 32, 96, 128)]
    assert sorted(before) == sorted([*parameters, (40, INPUT), (80, INPUT)])
    made = [(n, category) for _, action, n, category in lines if action == CREATE]
    assert (160, ACTIVATION) in made  # of the first layer, and of its activation
    assert (160, DETAIL) in made
    gradients = [n for n, category in made if category == GRADIENT]
    assert sorted(gradients) == [12, 32, 96, 128]
    assert sum(n for n, category in made if category == STATE) >= 268
    assert all(n < 0 for _, action, n, _ in lines if action == DESTROY)
    times = [at for at, *_ in lines if at >= 0]
    assert times == sorted(times) and times[0] > 1.7e18  # nanoseconds of the clock on the wall


def test_what_is_left_is_what_still_lives(prof, tmp_path):
    times, sizes = read(export(prof, tmp_path / "memory.json"))
    assert len(times) == len(sizes)
    assert all(len(row) == 9 and row[0] == 0 and min(row) >= 0 for row in sizes)
    assert sizes[0][1 + PARAMETER] == sizes[-1][1 + PARAMETER] == 268
    assert sizes[0][1 + ACTIVATION] == sizes[-1][1 + ACTIVATION] == 0
    assert sizes[-1][1 + GRADIENT] == 268
    assert sizes[-1][1 + DETAIL] == 0
    assert max(row[1 + ACTIVATION] for row in sizes) >= 160 + 60


def test_other_names_give_the_same_numbers(prof, tmp_path):
    plain = read(export(prof, tmp_path / "memory.json"))
    assert read(export(prof, tmp_path / "memory.json.gz"))[1] == plain[1]
    assert read(export(prof, tmp_path / "memory.txt", device="cpu"))[1] == plain[1]


def test_a_page_shows_the_areas(prof, tmp_path):
    text = export(prof, tmp_path / "memory.html").read_text()
    labels = re.findall("<polygon[^>]*><title>([^<]*)", text)
    assert labels == [
        *("Parameter", "Optimizer state", "Input", "Activation", "Gradient", "Autograd detail")
    ]
    assert "Max memory allocated: " in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_other_devices_have_no_memory(prof, tmp_path):
    assert read(export(prof, tmp_path / "memory.raw.json.gz", device="cuda:0")) == []
    assert read(export(prof, tmp_path / "memory.json", device="cuda:0")) == [[], []]
    with pytest.raises(ValueError):
        export(prof, tmp_path / "memory.html", device="cuda:0")


def test_what_it_needs_is_said(tmp_path):
    with pytest.raises(AssertionError, match="must be initialized for memory profiling"):
        export(profile(**ALL), tmp_path / "memory.json")
    with profile(profile_memory=True) as prof:
        pass
    with pytest.raises(ValueError, match="record_shapes=True, profile_memory=True, with_stack"):
        export(prof, tmp_path / "memory.json")


@pytest.mark.filterwarnings("default:`export_memory_timeline` is deprecated")
def test_it_is_deprecated_as_in_pytorch(prof, tmp_path):
    with pytest.warns(FutureWarning, match="Please use `torch.cuda.memory._record_memory_history`"):
        export(prof, tmp_path / "memory.json")


def test_what_is_computed_from_parameters_without_gradient_is_temporary(tmp_path):
    layer = nn.Linear(4, 4)
    with profile(**ALL) as prof:
        torch.ones(3, 4) * 2
        with torch.no_grad():
            layer.weight * 2
    lines = read(export(prof, tmp_path / "memory.raw.json.gz"))
    made = [(n, category) for _, action, n, category in lines if action == CREATE]
    assert made == [(48, INPUT), (48, INPUT), (64, TEMPORARY)]
