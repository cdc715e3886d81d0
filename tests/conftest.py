"""What every test may ask for: randomness that is the same in each run."""

import hypothesis
import numpy as np
import pytest

from tests import needs
from tests.tiers import rounds

# The same examples in each run but in the nightly tier's, and no limit on the time of one: the
# machine may be busy.
hypothesis.settings.register_profile(
    "tapegrad",
    derandomize=not rounds(0, 1),
    max_examples=rounds(60, 1000),
    deadline=None,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # a busy machine is no failure
)
hypothesis.settings.load_profile("tapegrad")


@pytest.fixture
def rng():
    """A NumPy generator, seeded."""
    return np.random.default_rng(20261)


@pytest.fixture
def seed():
    """tapegrad's default generator at seed 0 during a test, and as it was afterwards."""
    import tapegrad

    state = tapegrad.get_rng_state()
    tapegrad.manual_seed(0)
    yield 0
    tapegrad.set_rng_state(state)


@pytest.fixture(scope="session")
def pytorch():
    """PyTorch, where it is installed."""
    return needs.pytorch()


@pytest.fixture
def three_threads():
    """Three threads of the library during a test, and as many as before afterwards."""
    from tapegrad.core import threads

    before = threads.n_threads()
    threads.set_n_threads(3)
    yield
    threads.set_n_threads(before)
