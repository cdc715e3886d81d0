"""`save`, `async_save` and `load` of one process. Ranks: ../mpi."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import tapegrad as torch
from tapegrad.distributed import checkpoint
from tapegrad.distributed.checkpoint import format_utils, manifest
from tests import needs
from tests.messages import raises, raises_beginning

PROGRAMS = Path(__file__).parent / "programs"


def state(scale=1):
    return {
        "w": scale * torch.arange(6.0).view(2, 3),
        "of": {"n": scale, "b": [scale * torch.ones(2)]},
    }


def check(found):
    assert found["w"].equal(state()["w"]) and found["of"]["n"] == 1
    assert found["of"]["b"][0].equal(torch.ones(2))


def test_a_state_comes_back_in_place(tmp_path):
    checkpoint.save(state(), checkpoint_id=tmp_path)
    found = state(0)
    w = found["w"]
    checkpoint.load(found, checkpoint_id=tmp_path)
    check(found)
    assert found["w"] is w and sorted(os.listdir(tmp_path)) == [".metadata", "__0_0.distcp"]


def test_what_has_a_state_says_and_takes_it(tmp_path):
    class Counter:
        n = 3

        def state_dict(self):
            return {"n": self.n}

        def load_state_dict(self, state):
            self.n = state["n"]

    model, counter = torch.nn.Linear(2, 1), Counter()
    checkpoint.save({"model": model, "counter": counter}, checkpoint_id=tmp_path)
    weight = model.weight.detach().clone()
    torch.nn.init.zeros_(model.weight)
    counter.n = 0
    checkpoint.load({"model": model, "counter": counter}, checkpoint_id=tmp_path)
    assert model.weight.equal(weight) and counter.n == 3


def test_a_thread_writes_what_there_was(tmp_path):
    given = state()
    future = checkpoint.async_save(given, checkpoint_id=tmp_path)
    given["w"].zero_()
    other = checkpoint.async_save({"x": 1}, checkpoint_id=tmp_path / "other")
    found = state(0)
    checkpoint.load(found, checkpoint_id=tmp_path)  # waits
    check(found)
    assert future.done() and "x" in other.result().state_dict_metadata


def test_files_of_a_save_that_was_broken_off_are_not_taken_for_parts(tmp_path):
    checkpoint.save(state(), checkpoint_id=tmp_path)
    for name in ("__0_1.distcp.part", "__7_1.distcp", "__0_1.distcp.failed", "notes.txt"):
        (tmp_path / name).write_bytes(b"torn")
    found = state(0)
    checkpoint.load(found, checkpoint_id=tmp_path)
    check(found)
    checkpoint.save(state(), checkpoint_id=tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".metadata", "__0_1.distcp", "notes.txt"]


def test_an_old_checkpoint_may_be_kept(tmp_path):
    writer = checkpoint.FileSystemWriter(tmp_path, overwrite=False)
    checkpoint.save(state(), storage_writer=writer)
    with raises_beginning(
        checkpoint.CheckpointException, "CheckpointException ranks:dict_keys([0])"
    ):
        checkpoint.save(state(), storage_writer=writer)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"v": torch.ones(1)}, "RuntimeError: Missing key in checkpoint state_dict: v."),
        (
            {"w": torch.ones(1)},
            "ValueError: Size mismatch between saved torch.Size([2, 3]) and current: "
            "torch.Size([1]) for w",
        ),
        ({"w": 1}, "ValueError: Invalid checkpoint metadata for w, expected BytesStorageMetadata"),
    ],
)
def test_what_does_not_fit_is_an_error(tmp_path, given, text):
    checkpoint.save(state(), checkpoint_id=tmp_path)
    with raises_beginning(
        checkpoint.CheckpointException, f"CheckpointException ranks:dict_keys([0])\n(RANK 0) {text}"
    ):
        checkpoint.load(given, checkpoint_id=tmp_path)


def test_what_a_checkpoint_lacks_may_stay(tmp_path):
    checkpoint.save(state(), checkpoint_id=tmp_path)
    found = {"w": torch.zeros(2, 3), "v": torch.ones(1)}
    planner = checkpoint.DefaultLoadPlanner(allow_partial_load=True)
    checkpoint.load(found, checkpoint_id=tmp_path, planner=planner)
    assert found["w"].equal(state()["w"]) and found["v"] == 1


def test_one_file_and_back(tmp_path):
    checkpoint.save(state(), checkpoint_id=tmp_path / "a")
    format_utils.dcp_to_torch_save(tmp_path / "a", tmp_path / "a.pt")
    check(torch.load(tmp_path / "a.pt"))
    format_utils.torch_save_to_dcp(tmp_path / "a.pt", tmp_path / "b")
    found = state(0)
    checkpoint.load(found, checkpoint_id=tmp_path / "b")
    check(found)


class Runs:
    def __reduce__(self):
        return os.system, ("exit 1",)


def test_a_manifest_runs_nothing(tmp_path):
    for hostile in (Runs(), {"a": Runs()}):
        (tmp_path / manifest.NAME).write_bytes(pickle.dumps(hostile))
        with pytest.raises(pickle.UnpicklingError, match="system"):
            manifest.read(tmp_path / manifest.NAME)
    (tmp_path / manifest.NAME).write_bytes(pickle.dumps({"no": "manifest"}))
    with pytest.raises(pickle.UnpicklingError, match="is no manifest of a checkpoint"):
        manifest.read(tmp_path / manifest.NAME)


def test_a_manifest_names_no_file_elsewhere(tmp_path):
    found = checkpoint.save({"n": 1}, checkpoint_id=tmp_path)
    next(iter(found.storage_data.values())).relative_path = "../secret"
    manifest.write(tmp_path / manifest.NAME, found)
    with pytest.raises(checkpoint.CheckpointException, match="names a file outside of its folder"):
        checkpoint.load({"n": 0}, checkpoint_id=tmp_path)


def test_planners_of_ones_own_are_refused(tmp_path):
    class Own(checkpoint.DefaultSavePlanner):
        pass

    message = "tapegrad has no planner but DefaultSavePlanner, and got Own"
    with raises_beginning(NotImplementedError, message):
        checkpoint.save({}, checkpoint_id=tmp_path, planner=Own())
    with raises(RuntimeError, "Must provide either checkpoint_id or storage_writer"):
        checkpoint.save({})


def run(*command):
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(torch.__file__).parents[1])}
    ended = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=120, env=env
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_whole_checkpoint_is_there_whenever_a_process_is_killed(tmp_path):
    assert run(PROGRAMS / "killed.py", tmp_path, "15").startswith("killed 15 times")


def test_folders_are_exchanged_with_pytorch(tmp_path):
    needs.pytorch()
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    program = PROGRAMS / "exchanged.py"
    run("-m", "tapegrad", "run", program, "", ours)
    run(program, ours, theirs)  # with PyTorch
    run("-m", "tapegrad", "run", program, theirs, tmp_path / "again")
