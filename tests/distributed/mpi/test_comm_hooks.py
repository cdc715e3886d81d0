"""Hooks that compress gradients or average them seldom, in two ranks, and PyTorch's losses."""

import json

import numpy as np

LOSSES = {  # of PyTorch 2.13 with gloo, by the same program
    "rank 1": [1.061375, 2.209938, 1.846991, 1.264422, 1.893235, 1.497344, 1.937029, 1.483218],
    "rank 3": [1.061375, 2.209938, 1.846991, 1.247699, 1.878639, 1.478235, 1.914211, 1.446539],
    "stacked": [1.061375, 2.209938, 1.846991, 1.247311, 1.882543, 1.481084, 1.920961, 1.441623],
    "forgetful": [1.061375, 2.209938, 1.846991, 1.264422, 1.929937, 1.540959, 2.011298, 1.516436],
    "late": [1.061375, 2.209938, 1.846991, 1.247699, 1.878639, 1.478235, 1.914211, 1.446539],
    "local True": [1.061375, 2.209938, 1.846991, 1.247699, 1.878639, 1.473753, 1.914726, 1.400454],
    "local False": [1.061375, 2.209938, 1.846991, 1.247699, 1.878639, 1.473753, 1.914726, 1.400454],
}


def test_losses_are_those_of_pytorch(torchrun):
    ended = torchrun(2, "comm_hooks.py", "many buckets")
    assert ended.status == 0, ended.err
    found = json.loads(ended.out)
    assert found.keys() == LOSSES.keys()
    for name, losses in found.items():
        np.testing.assert_allclose(losses, LOSSES[name], atol=2e-6, err_msg=name)
