"""How calls are recorded: the arguments, and the names that generated code calls functions by."""

import pytest

import tapegrad as torch
from tapegrad import fx

F = torch.nn.functional
X = torch.arange(6.0).view(2, 3) / 4


@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated:UserWarning")
@pytest.mark.parametrize(
    ("function", "line"),
    [
        (lambda x: torch.einsum("ij,kj->ik", [x, x]), "torch.functional.einsum('ij,kj->ik', x, x)"),
        (lambda x: torch.einsum("ij->j", (x,)), "torch.functional.einsum('ij->j', x)"),
        (lambda x: torch.linalg.norm(x), "torch._C._linalg.linalg_norm(x)"),
        (
            lambda x: torch.linalg.vector_norm(x, dim=1),
            "torch._C._linalg.linalg_vector_norm(x, dim = 1)",
        ),
        (lambda x: torch.fft.fft(x).real, "torch._C._fft.fft_fft(x)"),
        (lambda x: torch.special.i0e(x), "torch._C._special.special_i0e(x)"),
        (lambda x: F.logsigmoid(x), "torch._C._nn.log_sigmoid(x)"),
        (lambda x: F.gelu(x), "torch._C._nn.gelu(x)"),
        (
            lambda x: F.softmin(x, 1),
            "torch.nn.functional.softmin(x, dim = 1, _stacklevel = 3, dtype = None)",
        ),
        (
            lambda x: F.l1_loss(x, x),
            "torch.nn.functional.l1_loss(x, x, size_average = None, reduce = None, "
            "reduction = 'mean')",
        ),
        (lambda x: torch.sum(x, dim=-1), "torch.sum(x, dim = -1)"),
        (lambda x: torch.chain_matmul(x, x.T), "torch.functional.chain_matmul(x, getattr_1)"),
    ],
)
def test_code_names_functions_as_pytorch_and_runs(function, line):
    traced = fx.symbolic_trace(function)
    assert f" = {line};" in traced.code
    assert torch.equal(traced(X), function(X))


def test_what_a_program_makes_sure_of_is_recorded():
    def function(x):
        torch._assert(x.sum() > 0, "a positive sum")
        return x + 1

    traced = fx.symbolic_trace(function)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    assert torch.equal(traced(X), X + 1)
    with pytest.raises(AssertionError, match="a positive sum"):
        traced(-X)
