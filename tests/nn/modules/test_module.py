"""Modules: registering, attributes, walking, modes, printing. Messages are PyTorch's."""

import copy
import pickle
import typing

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


class Shared(nn.Module):
    """A layer under three names, a parameter under two, a buffer and an ordinary attribute."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(1, 2)
        self.b = self.a
        self.c = nn.Parameter(torch.ones(1))
        self.d = self.c
        self.register_buffer("e", torch.ones(1))
        self.f = None
        self.g = nn.Sequential(self.a)


# --- classes ------------------------------------------------------------------------------------


def test_an_operator_as_attribute_of_a_class_does_not_become_a_method():
    class Net(nn.Module):
        act = torch.relu
        conv = nn.functional.conv1d
        own = lambda self, x: self.act(x) + 1  # noqa: E731

        def forward(self, x):
            return self.own(self.conv(x, torch.ones(1, 1, 2)))

    class Other(Net):
        act = torch.special.expit

    x = torch.tensor([[1.0, -2.0, 5.0]])
    assert Net()(x).tolist() == [[1.0, 4.0]]
    assert Other()(x).tolist() == torch.sigmoid(torch.tensor([[-1.0, 3.0]])).add(1).tolist()
    assert Net.act is torch.relu


# --- registering ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (1, TypeError, "parameter name should be a string. Got int"),
        ("a.b", KeyError, "'parameter name can\\'t contain \".\"'"),
        ("", KeyError, "'parameter name can\\'t be empty string \"\"'"),
        ("x", KeyError, "\"attribute 'x' already exists\""),
        ("forward", KeyError, "\"attribute 'forward' already exists\""),
    ],
)
def test_names_of_parameters_are_checked(name, error, message):
    m = nn.Module()
    m.x = 2
    with raises(error, message):
        m.register_parameter(name, None)


def test_only_parameters_are_registered_as_parameters():
    message = (
        "cannot assign 'torch.FloatTensor' object to parameter 'y' (torch.nn.Parameter or None "
        "required)"
    )
    with raises(TypeError, message):
        nn.Module().register_parameter("y", torch.ones(2))


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        (1, None, TypeError, "buffer name should be a string. Got int"),
        ("a.b", None, KeyError, "'buffer name can\\'t contain \".\"'"),
        ("", None, KeyError, "'buffer name can\\'t be empty string \"\"'"),
        ("x", None, KeyError, "\"attribute 'x' already exists\""),
        (
            "y",
            3,
            TypeError,
            "cannot assign 'int' object to buffer 'y' (torch Tensor or None required)",
        ),
    ],
)
def test_names_and_values_of_buffers_are_checked(name, value, error, message):
    m = nn.Module()
    m.x = 2
    with raises(error, message):
        m.register_buffer(name, value)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("x", nn.ReLU(), KeyError, "\"attribute 'x' already exists\""),
        (1, nn.ReLU(), TypeError, "module name should be a string. Got int"),
        ("a.b", nn.ReLU(), KeyError, "'module name can\\'t contain \".\", got: a.b'"),
        ("", nn.ReLU(), KeyError, "'module name can\\'t be empty string \"\"'"),
        ("q", 3, TypeError, "int is not a Module subclass"),
    ],
)
def test_names_and_values_of_children_are_checked(name, value, error, message):
    m = nn.Module()
    m.x = 2
    with raises(error, message):
        m.add_module(name, value)


def test_a_class_in_place_of_a_module_gets_advice():
    with pytest.raises(TypeError, match="is not a Module subclass") as error:
        nn.Sequential(nn.ReLU)
    assert "write ReLU(...)" in error.value.__notes__[0]


# --- attributes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: nn.Linear(2, 2), "module"),
        (lambda: nn.Parameter(torch.ones(2)), "parameters"),
        (lambda: nn.Buffer(torch.ones(2)), "buffer"),
    ],
)
def test_assigning_parts_before_init_is_refused(make, what):
    class Hasty(nn.Module):
        def __init__(self):
            self.part = make()

    with raises(AttributeError, f"cannot assign {what} before Module.__init__() call"):
        Hasty()


def test_an_unknown_attribute_is_named():
    with raises(AttributeError, "'Linear' object has no attribute 'foo'"):
        nn.Linear(2, 3).foo  # noqa: B018
    with raises(AttributeError, "'Linear' object has no attribute 'foo'"):
        del nn.Linear(2, 3).foo


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "weight",
            torch.ones(2),
            "cannot assign 'torch.FloatTensor' as parameter 'weight' (torch.nn.Parameter or None "
            "expected)",
        ),
        (
            "weight",
            3,
            "cannot assign 'int' as parameter 'weight' (torch.nn.Parameter or None expected)",
        ),
        ("act", 3, "cannot assign 'int' as child module 'act' (torch.nn.Module or None expected)"),
        (
            "mean",
            3,
            "cannot assign 'int' as buffer 'mean' (torch.nn.Buffer, torch.Tensor or None expected)",
        ),
    ],
)
def test_a_registered_name_keeps_its_kind(name, value, message):
    m = nn.Linear(2, 2)
    m.act = nn.ReLU()
    m.register_buffer("mean", torch.zeros(1))
    with raises(TypeError, message):
        setattr(m, name, value)


def test_none_may_take_the_place_of_any_part():
    m = nn.Linear(2, 2)
    m.act = nn.ReLU()
    m.register_buffer("mean", torch.zeros(1))
    m.weight = m.act = m.mean = None
    assert [m.weight, m.act, m.mean] == [None] * 3
    assert list(m.parameters()) == [m.bias]


def test_an_attribute_moves_to_the_table_of_its_new_kind():
    m = nn.Module()
    m.x = torch.ones(2)
    m.x = p = nn.Parameter(torch.ones(2))
    assert "x" not in m.__dict__
    m.y = nn.Buffer(torch.ones(1), persistent=False)
    assert (list(m._buffers), m._non_persistent_buffers_set) == (["y"], {"y"})
    m.y = nn.Linear(1, 1)
    assert (list(m._buffers), list(m._modules), m._non_persistent_buffers_set) == ([], ["y"], set())
    m.y = p
    assert (list(m._modules), list(m._parameters)) == ([], ["x", "y"])


def test_a_tensor_under_the_name_of_a_buffer_is_the_buffer():
    m = nn.Module()
    m.register_buffer("y", torch.ones(2), persistent=False)
    m.y = torch.zeros(3)
    assert list(m._buffers) == ["y"]
    assert m._non_persistent_buffers_set == {"y"}
    del m.y
    assert (m._buffers, m._non_persistent_buffers_set) == ({}, set())


def test_dir_lists_parts():
    assert {"weight", "bias", "in_features", "forward"} <= set(dir(nn.Linear(2, 2)))


def test_the_base_class_takes_no_arguments():
    with raises(TypeError, "Module.__init__() takes 1 positional argument but 2 were given"):
        nn.Module(3)
    with raises(TypeError, "Tanh.__init__() got an unexpected keyword argument 'x'"):
        nn.Tanh(x=3)


def test_a_module_without_forward_says_so():
    message = 'Module [Module] is missing the required "forward" function'
    with raises(NotImplementedError, message):
        nn.Module()(1)


def test_forward_may_be_set_on_the_object():
    m = nn.Module()
    m.forward = lambda x: x + 1
    assert m(3) == 4


# --- walking -------------------------------------------------------------------------------------


def names(pairs):
    return [name for name, _ in pairs]


def test_what_is_shared_comes_once_under_its_first_name():
    m = Shared()
    assert names(m.named_parameters()) == ["c", "a.weight", "a.bias"]
    assert names(m.named_modules()) == ["", "a", "g"]
    assert names(m.named_children()) == ["a", "g"]
    assert names(m.named_buffers()) == ["e"]


def test_what_is_shared_comes_under_every_name_on_demand():
    m = Shared()
    assert names(m.named_parameters(remove_duplicate=False)) == [
        *("c", "d", "a.weight", "a.bias", "b.weight", "b.bias", "g.0.weight", "g.0.bias")
    ]
    assert names(m.named_modules(remove_duplicate=False)) == ["", "a", "b", "g", "g.0"]


def test_names_may_have_a_prefix():
    m = Shared()
    assert names(m.named_parameters("zz", recurse=False)) == ["zz.c"]
    assert names(nn.Sequential(nn.ReLU()).named_modules(prefix="k")) == ["k", "k.0"]


def test_parts_are_found_by_path():
    m = Shared()
    assert m.get_submodule("g.0") is m.a
    assert m.get_submodule("") is m
    assert m.get_parameter("g.0.weight") is m.a.weight
    assert m.get_buffer("e") is m.e


@pytest.mark.parametrize(
    ("method", "target", "message"),
    [
        ("get_submodule", "a.b.c", "Linear has no attribute `b`"),
        ("get_submodule", "c", "`c` is not an nn.Module"),
        ("get_parameter", "a", "`a` is not an nn.Parameter"),
        ("get_parameter", "g.q", "Sequential has no attribute `q`"),
        ("get_parameter", "zz.q", "Shared has no attribute `zz`"),
        ("get_parameter", "e", "`e` is not an nn.Parameter"),
        ("get_buffer", "c", "`c` is not a buffer"),
    ],
)
def test_what_a_path_does_not_lead_to_is_named(method, target, message):
    with raises(AttributeError, message):
        getattr(Shared(), method)(target)


def test_a_submodule_is_replaced_by_path():
    m = Shared()
    m.set_submodule("g.0", nn.Tanh())
    m.set_submodule("new", nn.ReLU())
    assert repr(m.g[0]) == "Tanh()"
    assert repr(m.new) == "ReLU()"
    with raises(AttributeError, "Sequential has no attribute `9`"):
        m.set_submodule("g.9", nn.Tanh(), strict=True)
    with raises(ValueError, "Cannot set the submodule without a target name!"):
        m.set_submodule("", nn.Tanh())
    with raises(ValueError, "`module` is not an nn.Module, found <class 'int'>"):
        m.set_submodule("a", 3)


def test_apply_visits_children_first():
    seen = []
    m = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    assert m.apply(lambda part: seen.append(type(part).__name__)) is m
    assert seen == ["Linear", "ReLU", "Sequential"]


# --- modes and conversion ------------------------------------------------------------------------


def test_modes_reach_everything_below():
    m = Shared()
    assert m.eval() is m
    assert [part.training for part in m.modules()] == [False] * 3
    assert m.train().a.training
    with raises(ValueError, "training mode is expected to be boolean"):
        m.train(3)


def test_requires_grad_is_set_everywhere():
    m = Shared().requires_grad_(False)
    assert not any(p.requires_grad for p in m.parameters())


def test_zero_grad_forgets_or_fills():
    m = nn.Linear(2, 1)
    m(torch.ones(2)).backward()
    grad = m.weight.grad
    m.zero_grad(set_to_none=False)
    assert m.weight.grad is grad
    assert grad.tolist() == [[0.0, 0.0]]
    m.zero_grad()
    assert m.weight.grad is None


def test_conversion_keeps_the_parameters_and_their_gradients():
    m = nn.Linear(2, 2)
    weight = m.weight
    weight.grad = grad = torch.ones(2, 2)
    assert m.double() is m
    assert m.weight is weight
    assert weight.grad is grad
    assert [weight.dtype, grad.dtype, m.bias.dtype] == [torch.float64] * 3
    assert weight.requires_grad


def test_integers_stay_integers_except_for_type():
    m = nn.Module()
    m.register_buffer("i", torch.ones(2, dtype=torch.int64))
    m.register_buffer("f", torch.ones(2))
    m.half()
    assert (m.i.dtype, m.f.dtype) == (torch.int64, torch.float16)
    m.to("cpu", torch.float32)
    assert (m.i.dtype, m.f.dtype) == (torch.int64, torch.float32)
    m.type(torch.float64)
    assert (m.i.dtype, m.f.dtype) == (torch.float64, torch.float64)


def test_a_module_takes_the_dtype_of_a_tensor():
    assert nn.Linear(1, 1).to(torch.ones(1, dtype=torch.float64)).weight.dtype is torch.float64


def test_a_module_has_no_integer_dtype():
    message = (
        "nn.Module.to only accepts floating point or complex dtypes, but got desired "
        "dtype=torch.int32"
    )
    with raises(TypeError, message):
        nn.Linear(2, 3).to(torch.int32)


def test_there_is_no_gpu():
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        nn.Linear(2, 3).cuda()
    assert nn.Linear(2, 3).cpu().weight.device == torch.device("cpu")


# --- printing and copying ------------------------------------------------------------------------


def test_a_module_prints_its_children_indented():
    assert repr(Shared()) == (
        "Shared(\n"
        "  (a): Linear(in_features=1, out_features=2, bias=True)\n"
        "  (b): Linear(in_features=1, out_features=2, bias=True)\n"
        "  (g): Sequential(\n"
        "    (0): Linear(in_features=1, out_features=2, bias=True)\n"
        "  )\n"
        ")"
    )


def test_extra_lines_are_printed_too():
    class Two(nn.Module):
        def extra_repr(self):
            return "hello\nworld"

    m = Two()
    assert repr(m) == "Two(\n  hello\n  world\n)"
    m.part = nn.ReLU()
    m.part = None
    assert repr(m) == "Two(\n  hello\n  world\n  (part): None\n)"


def test_a_copy_shares_nothing_but_what_was_shared_inside():
    m = Shared().eval().requires_grad_(False)
    twin = copy.deepcopy(m)
    assert repr(twin) == repr(m)
    assert twin.a is twin.b
    assert twin.c is twin.d
    assert not twin.training
    assert not twin.c.requires_grad
    assert isinstance(twin.c, nn.Parameter)
    twin.c.data.fill_(5)
    assert m.c.item() == 1.0


def test_a_module_survives_pickle():
    m = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    twin = pickle.loads(pickle.dumps(m))
    x = torch.ones(4, 2)
    assert torch.equal(twin(x), m(x))
    assert [type(p) for p in twin.parameters()] == [nn.Parameter] * 4


def test_a_pickle_of_old_gets_the_tables_that_it_lacks():
    source = nn.Linear(2, 1)
    state = {k: v for k, v in source.__dict__.items() if k != "_state_dict_pre_hooks"}
    layer = nn.Linear.__new__(nn.Linear)
    layer.__setstate__(state)
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert layer.weight is source.weight


def test_a_memory_format_is_given_to_tensors_of_four_dimensions():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(2, 2)).to(memory_format=torch.channels_last)
    assert [p.stride() for p in model.parameters()] == [(27, 1, 9, 3), (1,), (2, 1), (1,)]
    model(torch.ones(1, 3, 4, 4)).sum().backward()
    model.to(torch.float64, memory_format=torch.contiguous_format)
    weight = model[0].weight
    assert weight.stride() == weight.grad.stride() == (27, 9, 3, 1)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        model.to(memory_format=3)


def test_a_module_moves_to_the_dtype_of_a_tensor_given_by_name():
    like = torch.ones(1, dtype=torch.float64)
    assert nn.Linear(2, 2).to(tensor=like).weight.dtype is torch.float64
    assert torch.ones(1).to(tensor=like).dtype is torch.float64


def test_a_subclass_may_keep_a_module_as_a_plain_attribute():
    class Model(nn.Module):
        def __setattr__(self, name, value):
            if name == "activation":
                return super(nn.Module, self).__setattr__(name, value)
            return super().__setattr__(name, value)

        def __delattr__(self, name):
            if name == "activation":
                return super(nn.Module, self).__delattr__(name)
            return super().__delattr__(name)

    m = Model()
    m.layer, m.activation = nn.Linear(1, 1), nn.ReLU()
    assert list(dict(m.named_children())) == ["layer"]
    assert isinstance(m.activation, nn.ReLU)
    del m.activation, m.layer
    assert not hasattr(m, "activation") and not list(m.children())


def test_names_that_public_code_reads():
    from tapegrad.nn.modules import module

    assert module._EXTRA_STATE_KEY_SUFFIX == "_extra_state"
    m = nn.Linear(1, 1)
    assert type(m.load_state_dict(m.state_dict())) is module._IncompatibleKeys


def test_annotations_of_a_module_are_understood_anywhere():
    # get_type_hints of an instance looks names up where it is told, not in the module's own file
    hints = typing.get_type_hints(torch.nn.Module(), globalns={}, localns={})
    assert hints["_parameters"] == dict[str, torch.nn.Parameter | None]
    assert hints["_buffers"] == dict[str, torch.Tensor | None]


def test_a_call_goes_through_call_impl():
    class Counted(nn.Linear):
        calls = 0

        def __call__(self, *args, **kwargs):
            self.calls += 1
            return self._call_impl(*args, **kwargs)

    class Doubled(nn.Linear):
        def _call_impl(self, *args, **kwargs):
            return 2 * super()._call_impl(*args, **kwargs)

    x = torch.ones(2)
    layer, seen = Counted(2, 1), []
    layer.register_forward_hook(lambda *_: seen.append("hook"))
    expected = nn.functional.linear(x, layer.weight, layer.bias)
    assert layer(x) == expected
    assert (layer.calls, seen) == (1, ["hook"])
    doubled = Doubled(2, 1)
    doubled.load_state_dict(layer.state_dict())
    assert doubled(x) == 2 * expected


def test_hooks_of_registration_stand_in_tables():
    from tapegrad.nn.modules import module

    hook = module.register_module_parameter_registration_hook(lambda *given: None)
    assert hook.id in module._global_parameter_registration_hooks
    hook.remove()
    assert hook.id not in module._global_parameter_registration_hooks
