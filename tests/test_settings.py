"""Settings of the whole process."""

import pytest

import tapegrad as torch
from tests.messages import raises


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield before
    torch.set_num_threads(before)


def test_the_number_of_threads_is_what_was_set(threads):
    torch.set_num_threads(1)
    assert torch.get_num_threads() == 1
    x = torch.linspace(-3, 3, 400_001)
    alone = x.tanh()
    torch.set_num_threads(3)
    assert torch.equal(x.tanh(), alone)


def test_threads_are_counted_from_one(threads):
    with raises(RuntimeError, "set_num_threads expects a positive integer"):
        torch.set_num_threads(0)
    with raises(RuntimeError, "set_num_threads expects an int, but got str"):
        torch.set_num_threads("a")


def test_determinism_can_be_asked_for():
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(False)
    assert not torch.are_deterministic_algorithms_enabled()
    with pytest.raises(TypeError, match="argument 'mode'"):
        torch.use_deterministic_algorithms(3)
    message = "_set_deterministic_algorithms(): argument 'warn_only' must be bool, not int"
    with raises(TypeError, message):
        torch.use_deterministic_algorithms(False, warn_only=1)


def test_memory_that_nothing_was_written_to_is_filled_where_runs_are_to_be_the_same():
    torch.use_deterministic_algorithms(True)
    x = torch.ones(2)
    for made in (torch.empty(2), torch.empty_like(x), x.new_empty(2), torch.empty(2, out=x.new())):
        assert made.isnan().all()
    for made in (torch.Tensor(2), torch.empty_strided((2,), (3,)), torch.ones(0).resize_(2)):
        assert made.isnan().all()
    assert torch.ones(2).resize_(3).tolist()[:2] == [1, 1]
    assert torch.empty(2, dtype=torch.int8).tolist() == [127, 127]
    assert torch.empty(2, dtype=torch.bool).all()
    utils = torch.utils.deterministic
    assert utils.fill_uninitialized_memory is True
    with raises(RuntimeError, "expected a bool, but got int"):
        utils.fill_uninitialized_memory = 1
    torch.use_deterministic_algorithms(False)


def test_precision_of_products_is_remembered():
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    with pytest.warns(UserWarning, match="foo is not one of 'highest', 'high', or 'medium'"):
        torch.set_float32_matmul_precision("foo")
    assert torch.get_float32_matmul_precision() == "highest"


def test_the_default_type_sets_the_default_dtype():
    with pytest.warns(UserWarning, match="set_default_tensor_type.. is deprecated"):
        torch.set_default_tensor_type(torch.DoubleTensor)
    try:
        assert torch.ones(1).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.warns(UserWarning), pytest.raises(TypeError, match="only floating-point types"):
        torch.set_default_tensor_type(torch.LongTensor)


def test_libraries_for_gpus_are_absent():
    assert not torch.backends.cudnn.is_available() and not torch.backends.mps.is_available()
    assert torch.backends.cudnn.version() is None


def test_switches_of_gpus_may_be_set():
    from tapegrad import backends

    backends.cuda.matmul.allow_tf32 = True
    assert torch.get_float32_matmul_precision() == "high"
    backends.cuda.matmul.allow_tf32 = False
    assert torch.get_float32_matmul_precision() == "highest"
    with pytest.raises(AttributeError, match="Unknown attribute allow_everything"):
        backends.cuda.matmul.allow_everything  # noqa: B018
    with pytest.raises(AttributeError):
        backends.cuda.matmul.allow_everything = True
    with backends.cudnn.flags(enabled=False, deterministic=True):
        assert not backends.cudnn.enabled and backends.cudnn.deterministic
    assert backends.cudnn.enabled and not backends.cudnn.deterministic
    with backends.mkldnn.flags(enabled=False):
        assert not backends.mkldnn.enabled
    assert backends.mkldnn.enabled


def test_the_debug_mode_is_determinism_by_another_name():
    try:
        torch.set_deterministic_debug_mode("warn")
        assert torch.get_deterministic_debug_mode() == 1
        assert torch.is_deterministic_algorithms_warn_only_enabled()
        torch.set_deterministic_debug_mode(2)
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.set_deterministic_debug_mode(0)
    assert not torch.are_deterministic_algorithms_enabled()
    with raises(RuntimeError, "invalid value of debug_mode, expected 0, 1, or 2, but got 5"):
        torch.set_deterministic_debug_mode(5)
    with raises(
        RuntimeError,
        "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got bad",
    ):
        torch.set_deterministic_debug_mode("bad")


def test_threads_side_by_side_are_a_positive_number():
    with raises(RuntimeError, "set_num_interop_threads expects a positive integer"):
        torch.set_num_interop_threads(0)
    with raises(RuntimeError, "set_num_interop_threads expects an int, but got str"):
        torch.set_num_interop_threads("a")


def test_arithmetic_of_sizes():
    assert torch.sym_max(2, 1.5) == 2.0 and type(torch.sym_max(2, 1.5)) is float
    assert torch.sym_int(-2.7) == -2 and torch.sym_sum([1, 2]) == 3 and torch.sym_not(0) is True
