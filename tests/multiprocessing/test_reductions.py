"""Tensors go to another process by their memory."""

import pytest

import tapegrad as torch
from tapegrad import multiprocessing
from tapegrad.multiprocessing import reductions


def work(inbox, outbox):
    given = inbox.get()
    given[0].mul_(2)
    assert not any(hasattr(x, "note") for x in given)
    outbox.put([(x.tolist(), type(x).__name__, x.requires_grad) for x in given])
    inbox.get()  # until the other process has read


def test_a_child_writes_where_the_parent_reads():
    context = multiprocessing.get_context("fork")
    inbox, outbox = context.SimpleQueue(), context.SimpleQueue()
    process = context.Process(target=work, args=(inbox, outbox), daemon=True)
    process.start()
    x = torch.arange(6.0).view(2, 3)
    x.note = "stays at home"
    turned = torch.tensor([1 + 2j]).conj()
    inbox.put([x.t(), x[1:, ::2], torch.nn.Parameter(torch.ones(1)), turned, torch.ones(0)])
    assert outbox.get() == [
        ([[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]], "Tensor", False),
        ([[6.0, 10.0]], "Tensor", False),
        ([1.0], "Parameter", True),
        ([1 - 2j], "Tensor", False),
        ([], "Tensor", False),
    ]
    inbox.put(None)
    process.join()
    assert process.exitcode == 0
    assert x.tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]] and x.is_shared()


def test_what_is_sent_twice_is_one_memory():
    inbox = multiprocessing.Queue()
    x = torch.zeros(2, dtype=torch.int64)
    inbox.put(x)
    inbox.put(x[1:])
    one, other = inbox.get(timeout=60), inbox.get(timeout=60)
    other += 5
    assert x.tolist() == one.tolist() == [0, 5]


def test_a_history_stays_at_home():
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        reductions.reduce_tensor(x * 2)
    inbox = multiprocessing.SimpleQueue()
    inbox.put(x)
    assert inbox.get().requires_grad


def test_a_tensor_without_memory_is_sent_as_one():
    inbox = multiprocessing.SimpleQueue()
    inbox.put(torch.nn.Parameter(torch.empty(3, 2, device="meta").t()))
    found = inbox.get()
    assert found.is_meta and found.shape == (2, 3) and found.stride() == (1, 2)
    assert isinstance(found, torch.nn.Parameter) and found.requires_grad


def test_a_file_goes_by_its_name(tmp_path):
    x = torch.from_file(str(tmp_path / "x"), shared=True, size=2).fill_(1)
    function, (place, n_bytes) = reductions.reduce_storage(x.untyped_storage())
    assert place == str(tmp_path / "x") and n_bytes == 8
    function(place, n_bytes)[0] = 7
    assert x.untyped_storage()[0] == 7


def test_sharing_strategies():
    assert multiprocessing.get_sharing_strategy() in multiprocessing.get_all_sharing_strategies()
    multiprocessing.set_sharing_strategy("file_descriptor")
    with pytest.warns(UserWarning, match="stays 'file_descriptor'"):
        multiprocessing.set_sharing_strategy("file_system")
    with pytest.raises(AssertionError, match="unknown sharing strategy 'pigeon'"):
        multiprocessing.set_sharing_strategy("pigeon")
