"""Settings of compilers are kept, under the names that PyTorch has."""

import pytest

import tapegrad as torch
from tapegrad.compat.torch import _dynamo, _inductor


def test_settings_are_kept():
    config = _dynamo.config
    assert config.cache_size_limit == config.recompile_limit == 8
    with config.patch(cache_size_limit=64), config.patch("verbose", True), config.patch({}):
        assert config.recompile_limit == 64 and config.verbose
        assert torch.compiler.config.recompile_limit == 64  # the same setting
    assert config.recompile_limit == 8 and not config.verbose

    @config.patch(suppress_errors=True)
    def inside():
        return config.suppress_errors

    assert inside() is True and config.suppress_errors is False


def test_settings_in_sections():
    config = _inductor.config
    assert config.triton.cudagraphs is False
    config.triton.cudagraphs = True
    assert config.triton.cudagraphs is True is config.get_config_copy()["triton.cudagraphs"]
    config.triton.cudagraphs = False
    assert "triton" in dir(config) and "max_autotune" in dir(config)


def test_unknown_settings_are_refused():
    text = r"torch\._dynamo\.config\.bouquet does not exist"
    for attempt in (
        lambda config: config.bouquet,
        lambda config: setattr(config, "bouquet", 1),
        lambda config: config.patch(bouquet=1),
    ):
        with pytest.raises(AttributeError, match=text):
            attempt(_dynamo.config)
    with pytest.raises(AttributeError, match=r"_inductor\.config\.triton\.bouquet does not exist"):
        _inductor.config.triton.bouquet = 1


def test_all_settings_come_and_go_together():
    before = _dynamo.config.get_config_copy()
    _dynamo.config.verbose = True
    _dynamo.config.load_config(before)
    assert _dynamo.config.verbose is False
