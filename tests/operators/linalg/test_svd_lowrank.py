"""Low-rank decompositions."""

import tapegrad as torch
from tests.messages import raises
from tests.operators.matrix import close


def test_low_rank_decompositions_are_of_pytorchs_random_vectors():
    x = torch.arange(20.0, dtype=torch.float64).view(5, 4).sin()
    torch.manual_seed(0)
    U, S, V = torch.svd_lowrank(x, 2)
    close(S, [2.2182957802293086, 2.1313895470816573])
    close(U.abs()[0], [0.4338928815904544, 0.3719244708639067])
    torch.manual_seed(0)
    U, S, V = torch.pca_lowrank(x, 2)
    close(S, [2.2106884744749733, 2.097976519463602])
    close(V.abs()[0], [0.32192317217512867, 0.5529605160233836])
    with raises(ValueError, "q(=9) must be non-negative integer and not greater than min(m, n)=4"):
        torch.pca_lowrank(x, 9)
