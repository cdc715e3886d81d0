"""The page on scaling, and the models that it is computed by."""

import pytest

from tools.scaling.__main__ import main
from tools.scaling.costs import Network, rabenseifner, ring, tree
from tools.scaling.replay import Step, step_time

NET = Network(alpha=1.0, beta=0.5, gamma=0.25)


@pytest.mark.parametrize(
    ("cost", "p", "messages", "sent", "added"),
    [
        (ring, 4, 6, 12, 6),
        (tree, 4, 2, 16, 16),
        (tree, 6, 4, 32, 32),
        (rabenseifner, 4, 4, 12, 6),
        (rabenseifner, 5, 6, 28.8, 14.4),
    ],
)
def test_costs_are_those_of_the_paper(cost, p, messages, sent, added):
    assert cost(8, p, NET) == pytest.approx(messages + sent * 0.5 + added * 0.25)


def test_buckets_are_sent_one_after_another_beside_the_backward():
    step = Step(10.0, [(4.0, 2), (5.0, 8), (10.0, 1)])
    assert step_time(step, 1, ring, NET) == 10
    taken = step_time(step, 2, lambda n, p, net: float(n), NET)
    assert taken == 15  # 4 to 6, 6 to 14, 14 to 15


def test_the_page_is_what_would_be_written():
    assert main(["--check"]) == 0
