"""The tables of names are what `tools/name_tables.py` makes of the files."""

from tapegrad.arrays.batched import namespace as batched
from tapegrad.arrays.numpy import namespace as numpy
from tapegrad.arrays.numpy.kernel_table import KERNELS
from tapegrad.dispatch.op import REGISTRY
from tapegrad.lazy_names import FUNCTIONS
from tapegrad.operators.loading import load_operators
from tapegrad.tensors.arrays import namespace as tensors
from tapegrad.tensors.arrays.kernel_table import TENSOR_KERNELS
from tools.name_tables import outdated, registered

load_operators()


def test_the_tables_are_up_to_date():
    assert outdated() == [], "run python -m tools.name_tables"


def test_each_name_is_found_in_its_file():
    for table, find in ((KERNELS, numpy), (TENSOR_KERNELS, tensors)):
        for file, names in table.items():
            for name in names.split():
                found = getattr(find, name)
                assert getattr(found, "__module__", file).startswith("tapegrad"), (file, name)
    assert FUNCTIONS


def test_a_decorator_is_read_with_its_options(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(
        "@kernel\ndef a(x): ...\n@kernel(elementwise=True)\ndef b(x): ...\n"
        "c = kernel(made())\ndef d(x): ...\n"
    )
    assert dict(registered(file, "kernel")) == {"a": set(), "b": {"elementwise"}, "c": set()}


def test_kernels_that_operators_name_are_registered():
    for op in REGISTRY.values():
        for name in op.kernels:
            assert callable(getattr(numpy, name)), f"{op.name} needs {name}"
    assert callable(batched.tanh)
