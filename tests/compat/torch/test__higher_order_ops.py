"""Branches and loops as functions of functions, under the names of their files."""

from tests.command import python


def test_they_are_functions_and_modules():
    code = (
        "from tapegrad import compat; compat.install(); import torch\n"
        "import torch._higher_order_ops as ops\n"
        "from torch._higher_order_ops.associative_scan import associative_scan\n"
        "from torch._higher_order_ops.cond import cond\n"
        "from torch._higher_order_ops.map import map\n"
        "assert torch.cond is cond is ops.cond and torch.while_loop is ops.while_loop\n"
        "assert associative_scan is ops.associative_scan and map is ops.map\n"
    )
    result = python("-c", code)
    assert result.returncode == 0, result.stderr
