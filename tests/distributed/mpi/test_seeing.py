"""What can be seen of ranks from the outside, and of collectives that do not fit."""

import re

from tapegrad.inspect.ranks import ranks
from tests.messages import raises


def test_profiles_and_tables_say_who_waits_for_whom(torchrun, tmp_path):
    ended = torchrun(2, "seeing.py", tmp_path)
    assert ended.status == 0, ended.err
    row = r"0     allreduce of 1000 float32  seeing\.py:\d+  0\.\d s  1\n1     computes"
    assert re.search(row, ended.out) and "waited" in ended.out


def test_ranks_that_make_different_collectives_are_told(torchrun):
    ended = torchrun(2, "mismatched.py", TORCH_DISTRIBUTED_DEBUG="DETAIL")
    assert ended.status == 0, ended.err
    found = ended.out.splitlines()
    begin = "Detected mismatch between collectives on ranks. Rank 0 is running collective: Coll"
    aspects = ["Tensor Tensor shapes: 2vs 3", "Tensor Tensor dtypes: Floatvs Double"]
    aspects.append("Op type: BROADCASTvs ALLREDUCE")
    for line, told, aspect in zip(found[::2], found[1::2], aspects, strict=True):
        assert line.startswith(begin) and line.endswith(aspect)
        lines = re.fullmatch(r"Rank 0 is at mismatched.py:(\d+), rank 1 at .*py:(\d+)\.", told)
        assert (lines[1] == lines[2]) is (aspect != aspects[2])


def test_an_address_has_a_host_and_a_port():
    with raises(ValueError, "no host and port: '29500'"):
        ranks("29500")
