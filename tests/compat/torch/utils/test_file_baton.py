"""A lock among processes."""

import threading

from tapegrad.compat.torch.utils.file_baton import FileBaton


def test_a_baton_is_held_by_one(tmp_path):
    path = str(tmp_path / "lock")
    first, second = FileBaton(path), FileBaton(path, wait_seconds=0.01)
    assert first.try_acquire() and not second.try_acquire()
    threading.Timer(0.05, first.release).start()
    second.wait()
    assert second.try_acquire()
    second.release()
