"""Dense tensors asked for parts of sparse ones."""

import pytest

import tapegrad as torch

LAYOUTS = {
    "values": "sparse tensor",
    "indices": "sparse coordinate tensor",
    "crow_indices": "sparse row compressed tensor",
    "col_indices": "sparse row compressed tensor",
    "ccol_indices": "sparse column compressed tensor",
    "row_indices": "sparse column compressed tensor",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_dense_tensor_has_no_such_part(name):
    x = torch.ones(3)
    expected = f"^{name} expected {LAYOUTS[name]} layout but got Strided\n"
    with pytest.raises(RuntimeError, match=expected):
        getattr(x, name)()
    with pytest.raises(RuntimeError, match=expected):
        getattr(torch, f"{name}_copy")(x)
    with pytest.raises(TypeError, match=f"^{name}_copy\\(\\): argument 'input'"):
        getattr(torch, f"{name}_copy")(3)


def test_coalesce_is_of_sparse_tensors():
    with pytest.raises(RuntimeError, match=r"^coalesce expected sparse coordinate tensor layout"):
        torch.ones(3).coalesce()
