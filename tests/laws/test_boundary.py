"""Arguments that are no tensors: PyTorch's errors for them, and none of the others hidden."""

import inspect

import pytest

import tapegrad
from tapegrad.core.argument_check import refused, require_tensors

F = tapegrad.nn.functional
X = tapegrad.ones(2, 3)

FIRST = "{}(): argument '{}' (position 1) must be Tensor, not {}"

# the function, what follows the first argument, the name of that, the function's in the message
CALLS = [
    *[(name, (), "input", name) for name in (
        "aminmax", "argmax", "argwhere", "celu", "conj", "count_nonzero", "diag",
        "diagflat", "fliplr", "hardshrink", "imag", "mean", "median", "msort",
        "nan_to_num", "nonzero", "prod", "ravel", "real", "resolve_conj", "selu", "squeeze",
        "sum", "t", "t_copy", "trace", "tril", "unique_consecutive",
        "view_as_real_copy",
    )],
    ("cumsum", (0,), "input", "cumsum"),
    ("expand_copy", ((2, 3),), "input", "expand_copy"),
    ("gather", (0, tapegrad.tensor([[0]])), "input", "gather"),
    ("index_select", (0, tapegrad.tensor([0])), "input", "index_select"),
    ("kthvalue", (1,), "input", "kthvalue"),
    ("logical_and", (X,), "input", "logical_and"),
    ("mm", (X,), "input", "mm"),
    ("permute", ((0, 1),), "input", "permute"),
    ("select", (0, 0), "input", "select"),
    ("transpose", (0, 1), "input", "transpose"),
    ("transpose_copy", (0, 1), "input", "transpose_copy"),
    ("unsqueeze", (0,), "input", "unsqueeze"),
    ("cdist", (X,), "x1", "cdist"),
    ("nn.functional.cross_entropy", (X,), "input", "cross_entropy_loss"),
    ("nn.functional.elu", (), "input", "elu"),
    ("nn.functional.gelu", (), "input", "gelu"),
    ("nn.functional.kl_div", (X, None, None, "sum"), "input", "kl_div"),
    ("trapezoid", (), "y", "trapezoid"),
    ("nn.functional.leaky_relu", (), "input", "leaky_relu"),
    ("nn.functional.nll_loss", (X,), "input", "nll_loss_nd"),
    ("fft.fftshift", (), "input", "fft_fftshift"),
    ("special.entr", (), "input", "special_entr"),
    ("special.ndtr", (), "input", "special_ndtr"),
]  # fmt: skip


@pytest.mark.parametrize("given", [[1.0], None], ids=["list", "None"])
@pytest.mark.parametrize(("path", "rest", "argument", "name"), CALLS, ids=[c[0] for c in CALLS])
def test_what_is_no_tensor_is_named(path, rest, argument, name, given):
    function = tapegrad
    for part in path.split("."):
        function = getattr(function, part)
    with pytest.raises(TypeError) as caught:
        function(given, *rest)
    assert str(caught.value) == FIRST.format(name, argument, type(given).__name__)
    assert caught.value.__notes__ == ["Make a tensor of it first: torch.tensor(...)."]


def test_the_argument_may_be_any_of_them_and_given_by_its_name():
    with pytest.raises(TypeError, match=r"mm\(\): argument 'mat2' \(position 2\) must be Tensor"):
        tapegrad.mm(X, [1.0])
    with pytest.raises(TypeError, match=r"vdot\(\): argument 'other' must be Tensor"):
        tapegrad.vdot(tapegrad.ones(2), other=[1.0])
    with pytest.raises(TypeError, match=r"^expected Tensor as element 1 in argument 0, but got"):
        tapegrad.block_diag(X, 3)
    with pytest.raises(TypeError, match=r"^expected Tensor as element 0 in argument 0, but got"):
        tapegrad.meshgrid([1.0])
    with pytest.raises(TypeError, match=r"squeeze_\(\): argument 'input' \(position 1\) must be"):
        tapegrad.Tensor.squeeze_([1.0])


def test_other_errors_are_left_as_they_are():
    @require_tensors
    def broken(input, dim=None):
        """Fails for a reason of its own."""
        if dim is None:
            return None.shape
        return input.no_such_attribute if dim else len(3)

    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'shape'"):
        broken(X)
    with pytest.raises(AttributeError, match="no attribute 'no_such_attribute'"):
        broken(X, 1)
    with pytest.raises(TypeError, match="has no len"):
        broken(X, 0)
    assert refused(broken, (X,), {}, AttributeError("of nothing")) is None
    assert list(inspect.signature(broken).parameters) == ["input", "dim"]


@pytest.mark.parametrize(
    "warn",
    [
        lambda: F.kl_div(X.log(), X),
        lambda: tapegrad.meshgrid(tapegrad.ones(2), tapegrad.ones(2)),
        lambda: F.cross_entropy(X, tapegrad.tensor([0, 1]), size_average=True),
        lambda: F.mse_loss(X, X, reduce=True),
        lambda: tapegrad.nn.L1Loss(size_average=False),
    ],
)
def test_warnings_name_the_line_of_the_program(warn):
    with pytest.warns(UserWarning) as caught:
        warn()
    assert caught[0].filename == __file__
