"""`inspect.memory`: what operators make and keep, and who is in the peak."""

import xml.etree.ElementTree as ET

import pytest

import tapegrad as torch
from tapegrad.inspect import memory

KB = 4000  # bytes of a thousand float32


@pytest.fixture
def x():
    return torch.ones(1000, requires_grad=True)


def row(seen, name):
    (maker,) = (m for m in seen.makers if m.name == name)
    return maker


def test_each_array_is_kept_by_the_first_that_keeps_it(x):
    with memory() as seen:
        y = x.exp()  # keeps its result
        z = y * y  # keeps the same array
        w = z * x  # keeps z, and x, which is a leaf
    kept = {m.place: m.kept for m in seen.makers}
    assert sorted(kept.values()) == [0, KB, KB]
    assert row(seen, "aten::exp").kept == KB
    assert seen.total_kept == 2 * KB
    assert seen.peak == seen.left == 3 * KB
    assert w.shape == (1000,)


def test_arrays_that_are_freed_leave_the_peak(x):
    with torch.no_grad(), memory() as seen:
        y = x * 2
        del y
        z = x + 1
        u = z - 1
        del z, u
    assert seen.peak == 2 * KB and seen.left == 0
    assert row(seen, "aten::mul").at_peak == 0
    assert row(seen, "aten::add").at_peak == row(seen, "aten::sub").at_peak == KB
    assert [n for _, n in seen.changes] == [KB, -KB, KB, KB, -KB, -KB]


def test_large_arrays_are_followed_although_their_memory_is_used_again():
    x = torch.ones(1000, 1000)
    with memory() as seen:
        for _ in range(3):
            y = x * 2
            del y
    assert seen.peak == x.nbytes and seen.left == 0


def test_views_make_nothing(x):
    with memory() as seen:
        y = x.view(10, 100).t()
    assert seen.peak == 0
    assert [m.made for m in seen.makers] == [0, 0]
    assert y.shape == (100, 10)


def test_the_backward_pass_frees_and_makes(x):
    with memory() as seen:
        loss = x.exp().sum()
        loss.backward()
    assert row(seen, "ExpBackward0").made == KB
    assert seen.left == KB + 4  # the gradient of x, and the loss
    assert torch.equal(x.grad, x.detach().exp())


def test_makers_know_their_line_and_layer():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
    with memory() as seen:
        model(torch.ones(2, 3))
    assert row(seen, "aten::tanh").module == "Sequential.1"
    assert row(seen, "aten::tanh").place[0].endswith("test_memory.py")


def test_the_table_and_the_picture_say_the_same(x):
    with memory() as seen:
        (x.exp() * 2).sum().backward()
    lines = str(seen).splitlines()
    assert lines[0].startswith("Peak ") and "kept for backward 3.9 KiB" in lines[0]
    assert lines[2].split("  ")[0] == "Operator"
    assert any(line.startswith("aten::exp") and "test_memory.py:" in line for line in lines)
    picture = ET.fromstring(seen.svg())
    texts = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith("peak ") for text in texts)
    assert any(text.startswith("exp ") for text in texts)
    page = seen._repr_html_()
    assert page.startswith("<svg") and "Kept for backward" in page and "prefers-color" not in page


def test_a_block_in_which_nothing_happens_has_a_table_and_a_picture():
    with memory() as seen:
        pass
    assert str(seen).startswith("Peak 0 B")
    ET.fromstring(seen.svg())


def test_a_long_run_is_thinned_out_and_keeps_its_peak(x):
    with torch.no_grad(), memory() as seen:
        for i in range(600):
            y = x * 2
            if i == 300:
                z = y * y
                u = z * y
                del z, u
    assert seen.peak == 3 * KB
    points = ET.fromstring(seen.svg()).find("{http://www.w3.org/2000/svg}polygon").get("points")
    assert points.count(",") < 2000


def test_memory_is_watched_under_a_profiler_and_fails_as_the_block_does(x):
    with torch.profiler.profile() as prof, memory() as seen:
        x * 2
    assert seen.peak == KB and [e.name for e in prof.events()] == ["aten::mul"]
    with pytest.raises(ValueError), memory() as seen:
        x * 2
        raise ValueError
    assert seen.peak == KB
    assert torch.is_grad_enabled()


def test_batches_of_mapped_functions_are_counted():
    x = torch.ones(3, 4)
    with memory() as seen:
        torch.func.vmap(lambda row: (row * 2).sum())(x)
    made = {maker.name: maker.made for maker in seen.makers}
    assert made["aten::mul"] == x.nbytes and made["aten::sum"] == 12
    with torch.profiler.profile(profile_memory=True) as prof:
        torch.func.vmap(lambda row: row * 2)(x)
    used = {event.name: event.cpu_memory_usage for event in prof.events()}
    assert used["aten::mul"] == x.nbytes
