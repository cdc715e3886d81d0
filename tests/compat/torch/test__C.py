"""`torch._C`: the names that programs read from PyTorch's compiled half."""

import pytest

import tapegrad as torch
from tests.needs import pytorch

C = torch._C


def test_sizes_broadcast():
    assert C._infer_size(torch.Size([2, 1]), torch.Size([4])) == torch.Size([2, 4])
    with pytest.raises(TypeError, match=r"expected a torch\.Size as argument 2"):
        C._infer_size(torch.Size([2]), (2,))
    with pytest.raises(RuntimeError, match="must match"):
        C._infer_size(torch.Size([2]), torch.Size([3]))


def test_classes_are_those_of_torch():
    assert C.Generator is torch.Generator and C._TensorMeta is type(torch.Tensor)
    assert issubclass(torch.Tensor, C._TensorBase) and C._LinAlgError is torch.linalg.LinAlgError
    assert C._linalg.linalg_norm is torch.linalg.norm and issubclass(torch.Tensor, C.TensorBase)
    assert torch.overrides.has_torch_function is C._has_torch_function
    with C.DisableTorchFunctionSubclass():
        assert not C._is_torch_function_enabled()
    assert not hasattr(C, "no_such_name")
    with pytest.raises(TypeError, match="No constructor defined"):
        C.Graph()


def test_switches_give_what_they_were_set_to():
    assert C._jit_set_profiling_mode(False) is True
    assert C._jit_set_profiling_mode(True) is False
    C._jit_set_texpr_fuser_enabled(False)
    assert C._jit_texpr_fuser_enabled() is False
    C._jit_set_texpr_fuser_enabled(True)
    with pytest.warns(UserWarning, match="nvfuser is no longer supported"):
        assert C._jit_set_nvfuser_enabled(True) is False


def test_transforms_are_seen():
    assert not C._are_functorch_transforms_active() and C._functorch.maybe_current_level() is None
    seen = []

    def f(x):
        seen.append((C._are_functorch_transforms_active(), C._functorch.maybe_current_level()))
        seen.append((C._functorch.is_batchedtensor(x), C._functorch.maybe_get_level(x)))
        seen.append((C._functorch.maybe_get_bdim(x), C._functorch.get_unwrapped(x).shape))
        return x * 2

    torch.func.vmap(f)(torch.ones(3, 2))
    assert seen == [(True, 1), (True, 1), (0, (3, 2))]
    with pytest.raises(RuntimeError, match="No wrappers present!"):
        C._functorch.get_unwrapped(torch.ones(1))
    seen.clear()
    torch.func.grad(lambda x: seen.append(C._functorch.is_gradtrackingtensor(x)) or x.sum())(
        torch.ones(2)
    )
    assert seen == [True]


def test_axes_move_as_in_pytorch():
    theirs = pytorch()
    x, y = torch.arange(24.0).reshape(2, 3, 4), theirs.arange(24.0).reshape(2, 3, 4)
    for src, dst in [(0, 1), (2, 0), (1, 0), (0, 0), (-1, -1)]:
        ours = C._functorch.reshape_dim_into(src, dst, x)
        assert ours.tolist() == theirs._C._functorch.reshape_dim_into(src, dst, y).tolist()
    for src, n in [(0, 2), (2, 2), (1, 3), (-1, 4)]:
        ours = C._functorch.reshape_dim_outof(src, n, x)
        assert ours.tolist() == theirs._C._functorch.reshape_dim_outof(src, n, y).tolist()


def test_arguments_of_to_are_pytorchs():
    theirs = pytorch()
    calls = [
        lambda t: t._C._nn._parse_to(t.float64),
        lambda t: t._C._nn._parse_to("cpu", t.float64, True),
        lambda t: t._C._nn._parse_to(t.ones(1)),
        lambda t: t._C._nn._parse_to(3.0),
        lambda t: t._C._nn._parse_to(memory_format=t.channels_last),
        lambda t: t._C._nn._parse_to("cpu", non_blocking=True),
        lambda t: t._C._nn._parse_to(),
        lambda t: t._C._nn._parse_to(None),
    ]
    for call in calls:
        assert str(call(torch)) == str(call(theirs))


def test_functions_of_nn():
    x = torch.tensor([-1.0, 2.0])
    assert C._nn.gelu(x).tolist() == torch.nn.functional.gelu(x).tolist()
    assert C._nn.log_sigmoid(x).tolist() == torch.nn.functional.logsigmoid(x).tolist()
    assert not hasattr(C._nn, "mse_loss")  # there, it takes the number of a reduction


def test_keys_are_pytorchs():
    theirs = pytorch()._C
    mine = {name: int(key) for name, key in C.DispatchKey.__members__.items()}
    assert mine == {name: int(key) for name, key in theirs.DispatchKey.__members__.items()}
    ours = C._dispatch_keys(torch.ones(1))
    assert repr(ours) == repr(theirs._dispatch_keys(pytorch().ones(1)))


def test_autocast_can_be_left_out():
    key = C.DispatchKey.AutocastCPU
    with torch.autocast("cpu"), C._ExcludeDispatchKeyGuard(C.DispatchKeySet(key)):
        assert not torch.is_autocast_enabled("cpu")
    with pytest.raises(NotImplementedError, match="cannot leave out CPU"):
        C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.CPU))


def test_tensors_are_grouped_as_in_pytorch():
    a, b = torch.ones(1), torch.ones(1, dtype=torch.float64)
    found = C._group_tensors_by_device_and_dtype([[a, b, a], [None, b, a]], True)
    key = (torch.device("cpu"), torch.float32)
    assert list(found) == [key, (torch.device("cpu"), torch.float64)]
    assert found[key] == ([[a, a], [None, a]], [0, 2])


X2, X3 = torch.arange(48.0).reshape(1, 3, 4, 4), torch.arange(64.0).reshape(1, 1, 4, 4, 4)
POOLS = {
    "adaptive_max_pool2d": (X2, (2, 2)),
    "adaptive_max_pool3d": (X3, (2, 2, 2)),
    "fractional_max_pool2d": (X2, (2, 2), (2, 2), torch.full((1, 3, 2), 0.3)),
    "fractional_max_pool3d": (X3, (2, 2, 2), (2, 2, 2), torch.full((1, 1, 3), 0.3)),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools_write_where_out_says(name):
    pool, args = getattr(C._nn, name), POOLS[name]
    values, places = pool(*args)
    out = torch.empty(0), torch.empty(0, dtype=torch.int64)
    found = pool(*args, out=out)
    assert found[0] is out[0] and found[1] is out[1]
    assert out[0].tolist() == values.tolist() and out[1].tolist() == places.tolist()
    with pytest.raises(RuntimeError, match="have dtype long int, but got float instead"):
        pool(*args, out=(torch.empty(0), torch.empty(0)))
    with pytest.raises(RuntimeError, match="have dtype float, but got double instead"):
        pool(*args, out=(torch.empty(0, dtype=torch.float64), out[1]))
    with pytest.raises(TypeError, match="argument 'out' must be tuple of Tensors, not Tensor"):
        pool(*args, out=out[0])


@pytest.mark.parametrize(("n", "x"), [(2, X2), (3, X3)])
def test_average_pools_write_where_out_says(n, x):
    pool, out = getattr(C._nn, f"adaptive_avg_pool{n}d"), torch.empty(0)
    assert pool(x, (2,) * n, out=out) is out
    assert out.tolist() == pool(x, (2,) * n).tolist()
    with pytest.raises(
        RuntimeError, match="expected dtype float for `output` but got dtype double"
    ):
        pool(x, (2,) * n, out=torch.empty(0, dtype=torch.float64))


def test_switches_are_those_of_public_functions():
    assert C._get_cudnn_enabled() is torch.backends.cudnn.enabled is True
    C._set_cudnn_enabled(False)
    try:
        assert torch.backends.cudnn.enabled is False
    finally:
        C._set_cudnn_enabled(True)
    C._set_deterministic_algorithms(True, warn_only=True)
    assert torch.are_deterministic_algorithms_enabled()
    assert C._get_deterministic_algorithms_warn_only()
    C._set_deterministic_algorithms(False)
    C._set_sdp_use_flash(False)
    assert not torch.backends.cuda.flash_sdp_enabled() and C._get_math_sdp_enabled()
    C._set_sdp_use_flash(True)
    assert C._show_config() == torch.__config__.show() and C._cxx_flags() == ""
    assert C._len_torch_dispatch_stack() == 0


def test_classes_of_packages_are_found_where_pytorch_has_them():
    assert C._distributed_c10d.ProcessGroup is torch.distributed.ProcessGroup
    assert C._distributed_c10d._DEFAULT_PG_TIMEOUT.total_seconds() == 1800
    assert str(C._autograd.DeviceType.Meta) == "DeviceType.Meta"
    assert C._autograd.ProfilerState.KINETO == 6 and C._autograd.kineto_available()
    assert C.ListType(C.IntType.get()).annotation_str == "List[int]"


def test_a_backward_pass_has_a_number_and_says_what_it_will_run():
    x = torch.ones(2, requires_grad=True)
    y, other = x * 2, (x * 3).grad_fn
    numbers, runs = [], []

    def hook(g):
        numbers.append(C._current_graph_task_id())
        runs.append([C._will_engine_execute_node(node) for node in (y.grad_fn, other)])
        runs.append(C._autograd._get_current_graph_task_keep_graph())

    y.register_hook(hook)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert numbers[1] == numbers[0] + 1 and C._current_graph_task_id() == -1
    assert runs == [[True, False], True, [True, False], False]
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        C._will_engine_execute_node(other)
    with pytest.raises(RuntimeError, match="expects an grad_fn, but got Tensor"):
        C._will_engine_execute_node(x)
    y = x * 2
    y.register_hook(lambda g: C._will_engine_execute_node(y.grad_fn.next_functions[0][0]))
    with pytest.raises(RuntimeError, match=r"we are currently running autograd\.grad\(\)"):
        torch.autograd.grad(y.sum(), x)


def test_a_weak_reference_says_whether_its_tensor_is_gone():
    x = torch.ones(1)
    reference = C._WeakTensorRef(x)
    assert not reference.expired()
    del x
    assert reference.expired()


def test_a_function_gives_no_gradient():
    functions = C._functions
    x = torch.ones(2, requires_grad=True)
    y = functions.UndefinedGrad()(x)
    assert torch.autograd.grad(y.sum(), x, allow_unused=True) == (None,)
    assert isinstance((x * 2).grad_fn.next_functions[0][0], functions.AccumulateGrad)


def test_saved_tensors_are_made_by_nodes_alone():
    assert torch.autograd.SavedTensor is C._autograd.SavedTensor
    y = torch.ones(2, requires_grad=True).exp()
    assert isinstance(y.grad_fn._raw_saved_result, torch.autograd.SavedTensor)
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python"):
        torch.autograd.SavedTensor()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        y.grad_fn._raw_saved_result.register_hooks(print)
