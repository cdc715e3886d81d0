"""The loss of counts, its dtypes and shapes."""

import tapegrad as torch

poisson_nll_loss = torch.nn.functional.poisson_nll_loss


def test_the_term_of_stirling_keeps_the_dtype():
    x, y = torch.tensor(-2.0, dtype=torch.bfloat16), torch.tensor(0, dtype=torch.int32)
    assert poisson_nll_loss(x, y, full=True).dtype is torch.bfloat16
