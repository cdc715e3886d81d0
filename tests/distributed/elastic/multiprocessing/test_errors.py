"""`record` writes a worker's error where its starter looks."""

import json

import pytest

from tapegrad.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
    record,
)


def test_an_error_is_written_and_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))

    @record
    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fails()
    assert json.loads(path.read_text())["message"]["message"] == "ValueError: no"
    failure = ProcessFailure(0, 12, 1, str(path))
    assert "rank 0: exit code 1, ValueError: no" in str(ChildFailedError("train", {0: failure}))


def test_what_goes_well_is_given_back():
    assert record(lambda x: x + 1)(2) == 3
