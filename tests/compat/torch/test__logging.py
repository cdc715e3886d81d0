"""`torch._logging`: levels of loggers."""

import logging

import tapegrad as torch
from tests.messages import raises

set_logs = torch._logging.set_logs


def test_levels_hold_until_the_next_call():
    c10d = logging.getLogger("torch.distributed.distributed_c10d")
    set_logs(c10d=logging.DEBUG, graph_breaks=True, modules={"tapegrad.nn": logging.INFO})
    assert (c10d.level, logging.getLogger("tapegrad.nn").level) == (logging.DEBUG, logging.INFO)
    set_logs(all=logging.ERROR)
    assert c10d.level == logging.ERROR and logging.getLogger("tapegrad.nn").level == 0
    set_logs()
    assert c10d.level == logging.NOTSET


def test_unknown_names_and_levels_are_refused():
    with raises(TypeError, "set_logs() got an unexpected keyword argument 'bogus'"):
        set_logs(bogus=True)
    with raises(
        ValueError,
        "Unrecognized log level for log dynamo: x, valid level values are: 50,40,30,20,10,0",
    ):
        set_logs(dynamo="x")
    with raises(ValueError, "Expected bool to enable artifact graph, received 3"):
        set_logs(graph=3)


def test_artifacts_have_loggers_of_their_own():
    assert torch._logging.getArtifactLogger("a.b", "graph").name == "a.b.__graph"
    text = (
        "Artifact name: 'bogus' not registered,please call register_artifact('bogus') in "
        "torch._logging.registrations."
    )
    with raises(ValueError, text):
        torch._logging.getArtifactLogger("a", "bogus")
