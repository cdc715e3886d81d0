"""Collectives of objects, and transfers between ranks, of which there is one."""

import tapegrad as torch
from tapegrad import distributed as dist
from tests.messages import raises


def test_objects_are_copied(world):
    given = {"x": torch.ones(2), "y": "text"}
    found = [None]
    dist.all_gather_object(found, given)
    assert found[0]["x"].equal(given["x"]) and found[0] is not given
    dist.gather_object("x", found, 0)
    assert found == ["x"]
    dist.scatter_object_list(found, ["y"], 0)
    assert found == ["y"]
    several = [1, "a", None]
    dist.broadcast_object_list(several, 0)
    assert several == [1, "a", None]


def test_lists_that_do_not_fit(world):
    with raises(ValueError, "Argument ``gather_list`` must be specified on destination rank."):
        dist.gather_object("x")
    with raises(
        ValueError, "Expected argument scatter_object_output_list to be a list of size at least 1."
    ):
        dist.scatter_object_list([], ["y"])


def test_a_rank_does_not_send_to_itself(world):
    message = (
        "Invalid destination rank: destination rank should not be the same as the rank of the "
        "current process."
    )
    with raises(ValueError, message):
        dist.send(torch.ones(1), 0)
    with raises(ValueError, message):
        dist.send_object_list([1], 0)
    with raises(dist.DistBackendError, "a world of one rank has no other to receive from"):
        dist.recv(torch.ones(1), 0)
    transfer = dist.P2POp(dist.isend, torch.ones(2), 0)
    assert (transfer.peer, transfer.tensor.numel()) == (0, 2)
    with raises(dist.DistBackendError, "a world of one rank has no other to send to"):
        dist.batch_isend_irecv([transfer])
