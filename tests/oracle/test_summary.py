"""Tables of layers, next to those that torchinfo prints for the same models in PyTorch."""

import pytest

import tapegrad
from tapegrad.inspect import summary
from tests import needs
from tests.inspect import models


@pytest.fixture(scope="module")
def torchinfo(pytorch):
    return needs.package("torchinfo", "prints the same tables", extra="oracle")


def test_every_table_is_torchinfos(pytorch, torchinfo, capsys):
    n_tables = 0
    both = zip(models.rows(pytorch), models.rows(tapegrad), strict=True)
    for (model, theirs), (_, ours) in both:
        expected = torchinfo.summary(model(pytorch), **theirs)
        shown = capsys.readouterr().out
        result = summary(model(tapegrad), **ours)
        assert capsys.readouterr().out == shown == f"{expected}\n", (model.__name__, theirs)
        for total in (
            "total_params",
            "trainable_params",
            "total_param_bytes",
            "total_output_bytes",
            "total_mult_adds",
            "total_input",
        ):
            assert getattr(result, total) == (getattr(expected, total) or 0), (
                model.__name__,
                total,
            )
        n_tables += 1
    assert n_tables > 30


def test_the_layers_up_to_a_failing_one_are_torchinfos(pytorch, torchinfo):
    texts = []
    for torch, table in ((pytorch, torchinfo.summary), (tapegrad, summary)):
        with pytest.raises(RuntimeError) as caught:
            table(models.cnn(torch), (2, 1, 20, 20))
        texts.append((str(caught.value), str(caught.value.__cause__)))
    assert texts[0] == texts[1]
