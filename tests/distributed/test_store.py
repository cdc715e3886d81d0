"""Stores, each kind: what PyTorch's answer, errors included."""

import threading
from datetime import timedelta

import pytest

from tapegrad import distributed as dist
from tests.messages import raises


@pytest.fixture(params=["hash", "file", "tcp", "client", "prefix"])
def store(request, tmp_path):
    if request.param == "hash":
        made = dist.HashStore()
    elif request.param == "file":
        made = dist.FileStore(str(tmp_path / "store"), 1)
    elif request.param == "prefix":
        made = dist.PrefixStore("mine", dist.HashStore())
    else:
        made = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=5))
        if request.param == "client":
            request.addfinalizer(lambda master=made: master.num_keys())  # it outlives the client
            made = dist.TCPStore("127.0.0.1", made.port, timeout=timedelta(seconds=5))
    made.set_timeout(timedelta(seconds=0.1))
    return made


def test_keys_and_counters(store):
    store.set("a", "b")
    assert store.get("a") == b"b"
    assert (store.add("n", 3), store.add("n", 2), store.get("n")) == (3, 5, b"5")
    assert store.check(["a", "n"]) and not store.check(["a", "q"])
    store.append("p", "1")
    store.append("p", b"\x002")
    store.multi_set(["x", "y"], ["1", "2"])
    assert store.get("p") == b"1\x002" and store.multi_get(["x", "y"]) == [b"1", b"2"]
    store.wait(["a", "p"])
    with raises(ValueError, "stoll"):
        store.add("a", 1)


def test_compare_set(store):
    assert store.compare_set("c", "", "v") == b"v"
    assert store.compare_set("c", "v", "w") == b"w"
    assert store.compare_set("c", "q", "z") == b"w"
    assert store.compare_set("e", "q", "z") == b"q" and not store.check(["e"])


def test_what_does_not_come_is_an_error(store):
    with pytest.raises(RuntimeError, match=r"(?i)timeout"):
        store.get("never")
    with pytest.raises(RuntimeError, match=r"(?i)timeout"):
        store.wait(["never"], timedelta(seconds=0.05))


def test_a_key_may_come_from_another_thread(store):
    store.set_timeout(timedelta(seconds=5))
    other = store.clone()
    thread = threading.Timer(0.05, lambda: other.set("late", "1"))
    thread.start()
    assert store.get("late") == b"1"
    thread.join()


def test_queues_and_deletion():
    for store in (dist.HashStore(), dist.TCPStore("127.0.0.1", 0, is_master=True)):
        store.queue_push("q", "1")
        store.queue_push("q", "2")
        assert (store.queue_len("q"), store.queue_pop("q"), store.queue_pop("q")) == (2, b"1", b"2")
        with raises(dist.QueueEmptyError, "queue is empty"):
            store.queue_pop("q", False)
        store.set("a", "b")
        assert store.num_keys() == 1 and store.delete_key("a") and not store.delete_key("a")


def test_files_have_no_queues(tmp_path):
    with raises(NotImplementedError, "queue support is not implemented."):
        dist.FileStore(str(tmp_path / "store"), 1).queue_len("q")


def test_files_are_shared_and_removed_with_the_last_handle(tmp_path):
    path = tmp_path / "store"
    first, second = (dist.FileStore(str(path), 2) for _ in range(2))
    first.set("a", "1")
    assert second.get("a") == b"1" and second.add("n", 1) == 1 and first.add("n", 1) == 2
    del first
    assert path.exists()
    del second
    assert not path.exists()


def test_nobody_listens():
    with pytest.raises(dist.DistNetworkError, match="The client socket has timed out after 50ms"):
        dist.TCPStore("127.0.0.1", 1, timeout=timedelta(seconds=0.05))


def test_a_master_waits_for_its_workers():
    with raises(
        dist.DistStoreError, "Timed out after 50ms waiting for clients. 1/2 clients joined."
    ):
        dist.TCPStore("127.0.0.1", 0, 2, True, timedelta(seconds=0.05))


def test_a_store_answers_nothing_but_questions_about_keys():
    store = dist.TCPStore("127.0.0.1", 0, is_master=True)
    with raises(ValueError, "a store has no __class__"):
        store._ask("__class__")
