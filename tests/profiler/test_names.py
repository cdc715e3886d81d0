"""Names of events, functions around operators, and operations: as PyTorch's profile has them."""

import threading

import pytest

import tapegrad as torch
from tapegrad.autograd.profiler import profile
from tapegrad.dispatch.op import REGISTRY
from tapegrad.profiler.composite import _around
from tapegrad.profiler.names import titles_of

F = torch.nn.functional


def tree(function):
    """The events of a call: `linear(t(transpose) addmm)`, without `aten::`."""

    def text(event):
        inside = " ".join(text(child) for child in event.cpu_children)
        return event.name.removeprefix("aten::") + (f"({inside})" if inside else "")

    with profile() as prof:
        function()
    return " ".join(text(e) for e in prof.function_events if e.cpu_parent is None)


@pytest.fixture
def x():
    return torch.rand(4, 4)


# --- functions around operators -------------------------------------------------------------------


def test_functions_stand_around_their_operators(x):
    b, target = torch.ones(4), torch.zeros(4, dtype=torch.int64)
    assert tree(lambda: F.linear(x, x, b)) == "linear(t(transpose) addmm)"
    assert tree(lambda: F.linear(x, x)) == "linear(t(transpose) matmul(mm))"
    assert tree(lambda: x @ x) == "matmul(mm)"
    assert tree(lambda: x.expand(2, 4, 4) @ x.expand(2, 4, 4)).endswith("matmul(bmm)")
    assert tree(lambda: F.cross_entropy(x, target)) == (
        "cross_entropy_loss(log_softmax(_log_softmax) nll_loss_nd(nll_loss(nll_loss_forward)))"
    )
    assert tree(lambda: F.layer_norm(x, (4,))) == "layer_norm(native_layer_norm)"
    assert tree(lambda: F.dropout(x, 0.0)) == "dropout"
    assert tree(lambda: x.flatten()) == "flatten(reshape(view))"
    assert tree(lambda: x.t().contiguous()) == "t(transpose) contiguous(clone(copy_))"
    assert tree(lambda: x.contiguous()) == ""
    assert tree(lambda: x[0, 0].item()) == "select select item"


def test_convolutions_have_the_name_of_their_dimensions():
    x, w = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2)
    assert tree(lambda: F.conv2d(x, w)) == "conv2d(convolution(_convolution))"
    x1, w1 = torch.ones(1, 1, 4), torch.ones(1, 1, 2)
    assert tree(lambda: F.conv1d(x1, w1)) == "conv1d(convolution(_convolution))"
    assert tree(lambda: F.conv_transpose2d(x, w)) == "conv_transpose2d(convolution(_convolution))"
    assert tree(lambda: F.max_pool2d(x, 2)) == "max_pool2d(max_pool2d_with_indices)"


def test_a_conversion_is_seen_whether_it_copies_or_not(x):
    assert tree(lambda: x.to(torch.float32)) == "to"
    assert tree(lambda: x.double()) == "to(_to_copy(copy_))"


def test_functions_know_their_inputs_and_their_time(x):
    with profile(record_shapes=True) as prof:
        F.linear(x, x, torch.ones(4))
    events = {event.name: event for event in prof.function_events}
    assert events["aten::linear"].input_shapes == [[4, 4], [4, 4], [4]]
    inside = events["aten::t"].cpu_time_total + events["aten::addmm"].cpu_time_total
    assert events["aten::linear"].cpu_time_total > inside


def test_functions_have_their_own_code_while_nobody_listens(x):
    before = F.linear.__code__
    with profile():
        assert F.linear.__code__ is not before
        with profile():
            pass
        assert F.linear.__code__ is not before
    assert F.linear.__code__ is before
    with pytest.raises(ValueError), profile():
        raise ValueError
    assert F.linear.__code__ is before
    assert all(each.function.__code__ is each.own for each in _around)


def test_functions_work_in_threads_that_are_not_profiled(x):
    results = []
    with profile() as prof:
        thread = threading.Thread(target=lambda: results.append(F.linear(x, x)))
        thread.start()
        thread.join()
    assert torch.equal(results[0], x @ x.t())
    assert prof.function_events == []


def test_errors_are_the_same_under_a_profile(x):
    wrong = [
        lambda: F.linear(x, [1.0]),
        lambda: torch.outer([1.0], x),
        lambda: F.cross_entropy(x, [1]),
        lambda: torch.matmul(x, torch.ones(3)),
        lambda: F.conv2d(x, x, stride="a"),
        lambda: F.linear(x, weight=x, nonsense=1),
        lambda: x.to(torch.Tensor),
    ]
    for call in wrong:
        with pytest.raises(Exception) as alone:
            call()
        for more in (False, True):
            with profile(record_shapes=more, profile_memory=more) as prof:
                with pytest.raises(type(alone.value)) as profiled:
                    call()
            assert str(profiled.value) == str(alone.value)
            assert all(event.cpu_time_total >= 0 for event in prof.function_events)


# --- names ----------------------------------------------------------------------------------------


def test_every_operator_has_a_name_in_a_namespace():
    for name, op in REGISTRY.items():
        titles = titles_of(name, op)
        assert all(title.startswith(("aten::", "tapegrad::")) for title in titles), name
        assert len(set(titles)) == len(titles), name


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("batched_product", "bmm"),
        ("fourier_from_real", "_fft_r2c"),
        ("grid_sampler_2d", "grid_sampler grid_sampler_2d"),
        ("i0e", "special_i0e"),
        ("reflection_pad_2d", "reflection_pad2d"),
        ("smooth_l1", "smooth_l1_loss"),
        ("sum_axes", "sum"),
        ("times_number", "mul"),
    ],
)
def test_names_of_operators_that_are_called_otherwise_here(name, titles):
    import tests.samples  # noqa: F401  (every operator is declared then)

    assert titles_of(name, REGISTRY[name]) == tuple("aten::" + word for word in titles.split())


# --- shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "name", "shapes"),
    [
        (lambda x: x + 2, "add", [[4, 4], [], []]),
        (lambda x: x.sum(), "sum", [[4, 4], []]),
        (lambda x: x.sum(1), "sum", [[4, 4], [], [], []]),
        (lambda x: x.view(2, 8), "view", [[4, 4], []]),
        (lambda x: x.reshape(2, 2, 4), "reshape", [[4, 4], []]),
        (lambda x: torch.cat([x, x]), "cat", [[], []]),
        (lambda x: torch.zeros(3), "zeros", [[], [], [], [], []]),
        (lambda x: torch.zeros_like(x), "zeros_like", [[4, 4], [], [], [], [], []]),
        (lambda x: x.add_(torch.ones(4)), "add_", [[4, 4], [4], []]),
        (lambda x: x.mul_(3), "mul_", [[4, 4], []]),
        (lambda x: x.gather(1, x[:, :1].long()), "gather", [[4, 4], [], [4, 1], []]),
        (lambda x: x[torch.tensor([1])], "index", [[4, 4], []]),
        (lambda x: F.layer_norm(x, (4,), x[0]), "layer_norm", [[4, 4], [], [4], [], [], []]),
        (lambda x: F.linear(x, x), "linear", [[4, 4], [4, 4], []]),
        (lambda x: F.linear(input=x, weight=x), "linear", [[4, 4], [4, 4], []]),
        (lambda x: torch.addmm(x[0], x, x), "addmm", [[4], [4, 4], [4, 4], [], []]),
        (
            lambda x: F.conv2d(x[None, None], torch.ones(2, 1, 3, 3), stride=(1, 1)),
            "conv2d",
            [[1, 1, 4, 4], [2, 1, 3, 3], [], [], [], [], []],
        ),
    ],
)
def test_shapes_stand_where_pytorch_has_them(x, function, name, shapes):
    with profile(record_shapes=True) as prof:
        function(x)
    found = [e.input_shapes for e in prof.function_events if e.name == "aten::" + name]
    assert found[-1] == shapes


# --- operations -----------------------------------------------------------------------------------


def flops(function):
    with profile(with_flops=True) as prof:
        function()
    return {e.key.removeprefix("aten::"): e.flops for e in prof.key_averages() if e.flops}


def ones(*shape):
    return torch.ones(*shape)


def test_operations_of_products_are_those_of_pytorch():
    assert flops(lambda: ones(30, 40) @ ones(40, 5)) == {"mm": 12000}
    assert flops(lambda: torch.addmm(ones(5), ones(30, 40), ones(40, 5))) == {"addmm": 12000}
    assert flops(lambda: ones(2, 3, 30, 40) @ ones(2, 3, 40, 5)) == {"bmm": 72000}
    assert flops(lambda: ones(2, 3, 30, 40) @ ones(40, 5)) == {"mm": 72000}
    assert flops(lambda: torch.baddbmm(ones(3, 30, 5), ones(3, 30, 40), ones(3, 40, 5))) == {
        "baddbmm": 36000
    }
    assert flops(lambda: F.linear(ones(2, 30, 40), ones(5, 40), ones(5))) == {"addmm": 24000}
    assert flops(lambda: torch.addmv(ones(30), ones(30, 40), ones(40))) == {}
    assert flops(lambda: ones(0, 40) @ ones(40, 5)) == {}


def test_operations_of_sums_and_products_of_elements_are_those_of_pytorch():
    assert flops(lambda: ones(3, 4) * ones(4)) == {"mul": 12}
    assert flops(lambda: ones(4) * ones(3, 4)) == {"mul": 4}
    assert flops(lambda: 2 + ones(3, 4)) == {"add": 12}
    assert flops(lambda: ones(3, 4).add_(2).exp() / 2) == {}


def test_operations_of_convolutions_are_those_of_pytorch():
    def conv(x, w, **options):
        return flops(lambda: F.conv2d(x, w, **options))

    x, w = ones(2, 4, 9, 8), ones(6, 4, 3, 2)
    assert conv(ones(2, 4, 9, 9), ones(6, 4, 3, 3)) == {"conv2d": 42336}
    assert conv(x, w, stride=2, padding=1) == {"conv2d": 14400}
    assert conv(x, w, stride=(2, 1), padding=(1, 0), dilation=(1, 2)) == {"conv2d": 17280}
    assert conv(ones(2, 4, 9, 9), ones(6, 2, 3, 3), groups=2) == {"conv2d": 21168}
    assert conv(ones(2, 4, 9, 9), ones(6, 4, 3, 3), padding="same") == {}
    assert conv(ones(4, 9, 9), ones(6, 4, 3, 3)) == {}
    assert flops(lambda: torch.nn.Conv2d(4, 6, 3)(ones(2, 4, 9, 9))) == {"conv2d": 42336}
    assert flops(lambda: F.conv1d(ones(2, 4, 9), ones(6, 4, 3))) == {}


def test_operations_are_a_column_where_some_were_counted():
    with profile(with_flops=True) as prof:
        ones(30, 40) @ ones(40, 5)
        ones(3).exp()
    averages = {event.key: event for event in prof.key_averages()}
    assert averages["aten::mm"].flops == 12000
    assert averages["aten::mm"].input_shapes == ""
    assert "Total KFLOPs" in prof.key_averages().table()
