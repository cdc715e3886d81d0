"""The spectral norm by a hook."""

import pytest

import tapegrad as torch
from tapegrad import nn


def test_spectral_norm_by_hook_iterates_in_each_forward():
    torch.manual_seed(0)
    layer = nn.utils.spectral_norm(nn.Linear(3, 2))
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    assert layer.weight_u.tolist() == pytest.approx([-0.6128, -0.7902], abs=1e-4)
    layer(torch.ones(1, 3))
    assert layer.weight_u.tolist() == pytest.approx([-0.6007, -0.7995], abs=1e-4)
    assert layer.weight[0].tolist() == pytest.approx([-0.0114, 0.8183, -1.2554], abs=1e-4)
    assert layer.state_dict()._metadata[""]["spectral_norm"] == {"weight.version": 1}
    assert list(nn.utils.remove_spectral_norm(layer).state_dict()) == ["bias", "weight"]


@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
def test_a_weight_without_shape_has_no_norm(name):
    layer = nn.LazyLinear(3)
    with pytest.raises(ValueError, match="can't have uninitialized parameters"):
        getattr(nn.utils, name)(layer)
    assert isinstance(layer.weight, nn.UninitializedParameter)
