"""Workers of a DataLoader: what they give, what they report, and that they are gone afterwards."""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import blas_threads
from tapegrad.utils import data
from tapegrad.utils.data._utils import worker
from tests.command import python

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the data sets here are not importable"),
    # Python 3.12 and later: other tests may have left threads of the pool.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


PATIENCE_S = 120  # what a test waits for comes at once; on a busy machine, in its time
fork = multiprocessing.get_context("fork") if hasattr(os, "fork") else None


@pytest.fixture(autouse=True)
def no_workers_of_other_tests():
    yield
    gc.collect()  # an exception that pytest caught holds the pass in which it was raised


def same(batch):
    return batch


def load(dataset, **options):
    options = {"num_workers": 2, "multiprocessing_context": "fork", "collate_fn": same, **options}
    return data.DataLoader(dataset, **options)


class Samples(data.Dataset):
    """`n` samples, each of which `make(i)` gives."""

    def __init__(self, n, make):
        self.n = n
        self.make = make

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.make(i)


class Parts(data.IterableDataset):
    """The numbers 0 to 6, dealt out among the workers."""

    def __iter__(self):
        info = data.get_worker_info()
        for i in range(info.id, 7, info.num_workers):
            yield info.id, i

    def __len__(self):
        return 6


def about_worker(i):
    info = data.get_worker_info()
    drawn = round(torch.rand(1).item(), 6), np.random.rand(), random.random()  # noqa: NPY002
    return i, info.id, info.num_workers, info.seed, torch.initial_seed() == info.seed, *drawn


def test_workers_have_pytorchs_seeds_and_random_numbers():
    generator = torch.Generator().manual_seed(5)
    loader = load(Samples(6, about_worker), generator=generator, shuffle=True)
    seed = 4095051218741643470
    first, second = list(loader)[:2]
    assert first == [(1, 0, 2, seed, True, 0.710601, 0.48524966518109036, 0.9732059885921714)]
    assert second == [(0, 1, 2, seed + 1, True, 0.290519, 0.08072729909407361, 0.7347412016282042)]
    assert data.get_worker_info() is None


def test_workers_use_one_thread_also_for_products():
    read, _ = blas_threads._openblas_threads() or (lambda: 1, None)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    (torch.ones(300, 300) @ torch.ones(300, 300)).exp()  # what is forked has threads that worked
    samples = Samples(
        4,
        lambda i: (
            torch.get_num_threads(),
            read(),
            (torch.ones(300, 300) @ torch.ones(300, 300))[0, 0].item(),
        ),
    )
    try:
        assert list(load(samples, batch_size=2)) == [[(1, 1, 300.0)] * 2] * 2
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_batches_come_in_order_however_long_each_takes():
    made = [fork.Event() for _ in range(8)]

    def after_the_next_if_even(i):
        assert i % 2 or made[i + 1].wait(PATIENCE_S)
        made[i].set()
        return i

    assert list(load(Samples(8, after_the_next_if_even))) == [[i] for i in range(8)]


def test_out_of_order_a_slow_worker_holds_up_no_other():
    released = fork.Event()

    def held_up_first(i):
        assert i or released.wait(PATIENCE_S)
        return i

    batches = iter(load(Samples(8, held_up_first), in_order=False))
    assert [next(batches), next(batches)] == [[1], [3]]
    released.set()
    assert sorted(i for (i,) in batches) == [0, 2, 4, 5, 6, 7]


def test_rows_of_tensors_come_from_workers_as_from_here(seed):
    rows = data.TensorDataset(torch.arange(20_000), torch.arange(20_000) / 2)
    for options in ({"batch_size": 7000}, {"batch_size": 700, "drop_last": True}):
        found = []
        for workers in ({"num_workers": 0}, {"num_workers": 2, "multiprocessing_context": "fork"}):
            torch.manual_seed(2)
            loader = data.DataLoader(rows, shuffle=True, **options, **workers)
            found.append([[x.tolist() for x in batch] for batch in loader])
        assert found[0] == found[1]


def test_an_iterable_dataset_is_dealt_out_among_workers():
    assert list(load(Parts(), batch_size=2)) == [
        [(0, 0), (0, 2)],
        [(1, 1), (1, 3)],
        [(0, 4), (0, 6)],
        [(1, 5)],
    ]
    found = load(Parts(), batch_size=None, num_workers=1)
    assert list(found) == [(0, i) for i in range(7)]


def test_a_wrong_length_with_workers_is_explained():
    loader = load(Parts())
    assert len(loader) == 6
    with pytest.warns(UserWarning, match="but 7 samples have been fetched. For multiprocessing"):
        assert len(list(loader)) == 7


# --- failures ----------------------------------------------------------------------------------


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a}|{b}")


def failing(error):
    def make(i):
        if i == 1:
            raise error
        return i

    return load(Samples(5, make))


def test_an_exception_arrives_with_the_traceback_of_the_worker_and_the_others_follow():
    batch = iter(failing(ValueError("no such sample")))
    assert next(batch) == [0]
    with pytest.raises(ValueError) as caught:
        next(batch)
    first, second, *_ = str(caught.value).splitlines()
    assert first == "Caught ValueError in DataLoader worker process 1."
    assert second == "Original Traceback (most recent call last):"
    assert "in make\n    raise error\n" in str(caught.value)
    assert str(caught.value).endswith("\nValueError: no such sample\n")
    assert list(batch) == [[2], [3], [4]]


def test_a_key_error_prints_line_by_line():
    with pytest.raises(KeyError) as caught:
        list(failing(KeyError("k")))
    assert str(caught.value).startswith("Caught KeyError in DataLoader worker process 1.\nOriginal")


def test_an_exception_that_cannot_be_made_here_is_a_runtime_error():
    with pytest.raises(RuntimeError, match=r"^Caught TwoArguments in DataLoader worker process 1."):
        list(failing(TwoArguments(1, 2)))


def test_a_sample_that_cannot_be_sent_is_reported():
    with pytest.raises(
        (AttributeError, TypeError), match=r"in DataLoader worker process 0."
    ) as caught:
        list(load(Samples(1, lambda i: lambda: i)))
    assert "pickle" in str(caught.value) or "Can't get local object" in str(caught.value)


def test_a_failing_worker_init_fn_is_reported():
    def init(worker_id):
        raise ValueError(f"not {worker_id}")

    with pytest.raises(ValueError, match=r"^Caught ValueError in DataLoader worker process 0."):
        list(load(range(3), worker_init_fn=init))


def test_a_worker_that_is_killed_is_noticed():
    taken = fork.Event()

    def die(i):
        if i == 2:
            taken.wait(PATIENCE_S)  # or the batch before might not be sent
            os.kill(os.getpid(), signal.SIGKILL)
        return i

    batch = iter(load(Samples(4, die)))
    assert [next(batch), next(batch)] == [[0], [1]]
    taken.set()
    message = r"(?m)^DataLoader worker \(pid\(s\) \d+\) exited unexpectedly$"
    with pytest.raises(RuntimeError, match=message) as caught:
        next(batch)
    assert str(caught.value.__cause__).endswith(" is killed by signal: Killed. ")
    with pytest.raises(RuntimeError, match=message):
        next(batch)


def test_a_worker_that_exits_is_noticed():
    def leave(i):
        os._exit(3)

    with pytest.raises(RuntimeError, match=r"(?m)exited unexpectedly$") as caught:
        list(load(Samples(2, leave), num_workers=1))
    assert "exited unexpectedly with exit code 3. Details are lost" in str(caught.value.__cause__)


def test_waiting_has_an_end():
    loader = load(Samples(1, lambda i: signal.pause()), timeout=0.1, num_workers=1)
    with pytest.raises(RuntimeError, match=r"(?m)^DataLoader timed out after 0.1 seconds$"):
        list(loader)
    assert not multiprocessing.active_children()


# --- life and death ----------------------------------------------------------------------------


def test_workers_end_with_their_pass():
    loader = load(range(20))
    assert len(list(loader)) == 20
    assert not multiprocessing.active_children()
    batch = iter(loader)
    next(batch)
    assert len(multiprocessing.active_children()) == 2
    del batch
    assert not multiprocessing.active_children()


def test_workers_end_though_those_of_another_loader_live_on(monkeypatch):
    first = iter(load(range(2)))
    workers = multiprocessing.active_children()
    stops = type(first._crew).__module__
    monkeypatch.setattr(f"{stops}._GRACE_S", PATIENCE_S)  # to end by themselves, on a busy machine
    second = iter(load(range(40)))
    next(second)
    assert len(list(first)) == 2
    assert [worker.exitcode for worker in workers] == [0, 0]  # else they were terminated
    assert len(multiprocessing.active_children()) == 2
    assert len(list(second)) == 39


def test_persistent_workers_begin_again_where_a_pass_was_broken_off():
    loader = load(Samples(9, lambda i: (i, os.getpid())), persistent_workers=True)
    first = iter(loader)
    pids = {next(first)[0][1], next(first)[0][1]}
    assert len(pids) == 2
    assert iter(loader) is first
    for _ in range(2):
        found = [sample for (sample,) in loader]
        assert [i for i, _ in found] == list(range(9))
        assert {pid for _, pid in found} == pids
    del first, loader
    assert not multiprocessing.active_children()


def test_persistent_workers_that_were_killed_are_replaced():
    loader = load(range(6), persistent_workers=True)
    assert len(list(loader)) == 6
    worker = multiprocessing.active_children()[0]
    worker.kill()
    worker.join()
    with pytest.raises(RuntimeError, match=r"(?m)exited unexpectedly$"):
        for _ in range(2):
            list(loader)
    assert len(list(loader)) == 6


def test_workers_can_be_spawned():
    loader = data.DataLoader(range(4), 2, num_workers=1, multiprocessing_context="spawn")
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]


ORPHANS = """
import os, time
from tapegrad.utils import data
from tests.command import python

class Stuck(data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        os.write(1, b"begun\\n")
        time.sleep(600)

list(data.DataLoader(Stuck(), num_workers=2, multiprocessing_context="fork"))
"""


def test_workers_do_not_outlive_a_parent_that_was_killed():
    command = [sys.executable, "-c", ORPHANS]
    env = {**os.environ, "PYTHONPATH": str(Path(torch.__file__).parents[1])}
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert [parent.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
        parent.kill()
        # The pipe ends when the last process that could write to it is gone.
        assert parent.communicate(timeout=PATIENCE_S) == ("", None)
    finally:
        parent.kill()


SCRIPT = """
import torch
from torch.utils.data import DataLoader, Dataset

class Halves(Dataset):
    def __len__(self):
        return 3
    def __getitem__(self, i):
        return torch.tensor(i / 2)

if __name__ == "__main__":
    print(*DataLoader(Halves(), num_workers=1, multiprocessing_context="spawn"))
"""


def test_spawned_workers_of_a_script_find_tapegrad_as_torch(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    run = python("-m", "tapegrad", "run", path)
    assert run.stderr == ""
    assert run.stdout == "tensor([0.]) tensor([0.5000]) tensor([1.])\n"


def test_numpy_begins_in_a_worker_as_in_pytorch():
    assert worker._generate_state(123, 1) == [3294636787, 2680389647, 2065414824, 2956203954]
    assert worker._generate_state(-3, 2) == [2294483597, 2001946579, 1220714998, 3268294532]
