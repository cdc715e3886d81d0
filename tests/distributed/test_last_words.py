"""What a rank wrote outlives it, and is gone where it ended by itself."""

import os

import pytest

from tapegrad.distributed import last_words


@pytest.fixture
def page(monkeypatch):
    path = last_words.make(3)
    monkeypatch.setenv(last_words.VARIABLE, path)
    monkeypatch.setattr(last_words, "_page", None)
    yield path
    os.remove(path)


def test_a_rank_is_told_of_until_it_wipes_its_place(page):
    last_words.take_place(1)
    last_words.write("it waited in allreduce of 2 float32")
    line = f"rank 1 (process {os.getpid()}) was killed while it waited in allreduce of 2 float32"
    assert last_words.read(page) == [f"tapegrad: {line}"]
    last_words.write("x" * 1000)  # as much of it as there is room for
    assert last_words.read(page)[0].endswith("xxx")
    last_words.write("")
    assert last_words.read(page) == []


def test_a_rank_beyond_the_page_writes_nothing(page):
    last_words.take_place(3)
    last_words.write()
    assert last_words.read(page) == []
