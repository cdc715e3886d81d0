"""What `torch.distributed.algorithms` has by itself."""

from tapegrad.distributed import algorithms
from tapegrad.distributed.algorithms import join


def test_join_is_found_in_the_package_too():
    found = (algorithms.Join, algorithms.Joinable, algorithms.JoinHook)
    assert found == (join.Join, join.Joinable, join.JoinHook)
