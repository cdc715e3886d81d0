"""A test of other processes that hangs ends after two minutes."""

import signal

import pytest


@pytest.fixture(autouse=True)
def limit():
    def stop(number, frame):
        raise TimeoutError("another process did not answer within two minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
