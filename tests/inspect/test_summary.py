"""torchinfo's table of a model's layers. The tables are those that torchinfo 1.8 prints."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import summary
from tests.inspect import models


def lines_of(result):
    return str(result).splitlines()


def test_the_table_is_printed_and_returned(capsys):
    result = summary(models.mlp(torch), (64, 1000))
    assert capsys.readouterr().out == f"{result}\n"
    assert lines_of(result) == [
        "=" * 90,
        "Layer (type:depth-idx)                   Output Shape              Param #",
        "=" * 90,
        "Sequential                               [64, 10]                  --",
        "├─Linear: 1-1                            [64, 100]                 100,100",
        "├─ReLU: 1-2                              [64, 100]                 --",
        "├─Dropout: 1-3                           [64, 100]                 --",
        "├─Linear: 1-4                            [64, 10]                  1,010",
        "=" * 90,
        "Total params: 101,110",
        "Trainable params: 101,110",
        "Non-trainable params: 0",
        "Total mult-adds (Units.MEGABYTES): 6.47",
        "=" * 90,
        "Input size (MB): 0.26",
        "Forward/backward pass size (MB): 0.06",
        "Params size (MB): 0.40",
        "Estimated Total Size (MB): 0.72",
        "=" * 90,
    ]


def test_a_tensor_in_place_of_a_size_is_the_input():
    x = torch.ones(64, 1000)
    expected = str(summary(models.mlp(torch), input_data=x, verbose=0))
    assert str(summary(models.mlp(torch), x, verbose=0)) == expected


def test_a_table_that_is_printed_is_there_once(capsys):
    print(summary(models.mlp(torch), (64, 1000)))
    table = capsys.readouterr().out
    assert table.count("Total params") == 1
    kept = [summary(models.mlp(torch), (64, 1000)), print("end")]
    assert capsys.readouterr().out == f"{table}end\n" == f"{kept[0]}\nend\n"


def test_the_result_has_the_totals(capsys):
    result = summary(models.cnn(torch), (64, 1, 28, 28), verbose=0)
    assert capsys.readouterr().out == ""
    assert (result.total_params, result.trainable_params) == (19360, 19360)
    assert (result.total_mult_adds, result.total_output_bytes) == (20887040, 4290560)
    assert (result.total_input, result.total_param_bytes) == (200768, 77440)
    assert result.input_size == [(64, 1, 28, 28)]
    assert [row.macs for row in result.summary_list][:4] == [12390400, 9584640, 0, 10240000]


def test_every_column_and_every_parameter():
    look = {"col_names": models.COLUMNS, "col_width": 14, "verbose": 0}
    result = summary(models.recurrent(torch), (5, 2, 4), **look)
    assert lines_of(result)[1:5] == [
        "Layer (type:depth-idx)                   Kernel Shape   Input Shape    Output Shape   "
        "Param #        Param %        Mult-Adds      Trainable",
        "=" * 138,
        "GRU                                      --             [5, 2, 4]      [5, 2, 6]      "
        "216            100.00%        2,160          True",
        "=" * 138,
    ]
    assert result.summary_list[0].inner_layers == {
        "weight_ih_l0": {"kernel_size": "[18, 4]", "num_params": "├─72"},
        "weight_hh_l0": {"kernel_size": "[18, 6]", "num_params": "├─108"},
        "bias_ih_l0": {"kernel_size": "[18]", "num_params": "├─18"},
        "bias_hh_l0": {"kernel_size": "[18]", "num_params": "└─18"},
    }


def test_layers_of_lists_stand_below_their_lists_and_repeated_calls_are_marked():
    result = summary(models.listed(torch), (2, 4), verbose=0)
    assert lines_of(result)[3:22] == [
        "Lists                                    [2, 4]                    60",
        "├─ModuleList: 1-4                        --                        (recursive)",
        "│    └─Linear: 2-1                       [2, 4]                    20",
        "├─ModuleDict: 1-5                        --                        (recursive)",
        "│    └─Linear: 2-2                       [2, 4]                    20",
        "├─ReLU: 1-3                              [2, 4]                    --",
        "├─ModuleList: 1-4                        --                        (recursive)",
        "│    └─Linear: 2-3                       [2, 4]                    20",
        "├─ModuleDict: 1-5                        --                        (recursive)",
        "│    └─Linear: 2-4                       [2, 4]                    20",
        "├─ReLU: 1-6                              [2, 4]                    --",
        "├─ModuleList: 1-7                        --                        --",
        "│    └─ModuleList: 2-5                   --                        --",
        "│    │    └─Linear: 3-1                  [2, 4]                    20",
        "│    └─Linear: 2-6                       [2, 4]                    20",
        "├─Linear: 1-8                            [2, 4]                    20",
        "├─Linear: 1-9                            [2, 4]                    (recursive)",
        "├─Linear: 1-10                           [2, 4]                    (20)",
        "=" * 90,
    ]


def test_without_input_layers_are_listed_and_nothing_runs():
    model = models.nested(torch)
    model.forward = None
    look = {"depth": 1, "row_settings": ("var_names", "depth", "ascii_only"), "verbose": 0}
    assert lines_of(summary(model, **look))[1:7] == [
        "Layer (type (var_name):depth-idx)        Param #",
        "=" * 65,
        "Sequential (Sequential)                  --",
        "+ Sequential (0): 1-1                    40",
        "+ ReLU (1): 1-2                          --",
        "+ Sequential (2): 1-3                    10",
    ]


def test_names_longer_than_the_column_widen_it():
    class LongNameOfALayerThatDoesNothingAtAll(nn.Identity):
        pass

    model = nn.Sequential(nn.Sequential(LongNameOfALayerThatDoesNothingAtAll()))
    lines = lines_of(summary(model, (2,), verbose=0))
    assert lines[0] == "=" * 105
    assert lines[-12] == (
        "│    └─LongNameOfALayerThatDoesNothingAtAll: 2-1        [2]                       --"
    )


@pytest.mark.parametrize(
    ("data", "sizes", "n_bytes"),
    [
        (torch.ones(2, 3), torch.Size([2, 3]), 88),
        (np.ones((2, 3), np.float32), torch.Size([2, 3]), 88),
        ([torch.ones(10, 3)[:2], "text", None], [torch.Size([2, 3]), "text", None], 184),
        ({"x": torch.ones(2, 3), "n": 5}, {"x": torch.Size([2, 3]), "n": 5}, 88),
    ],
)
def test_inputs_of_all_kinds_are_passed_on_and_measured(data, sizes, n_bytes):
    class Takes(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 1)

        def forward(self, x, *args, **kwargs):
            return self.fc(torch.as_tensor(x))

    result = summary(Takes(), input_data=data, verbose=0)
    assert (result.input_size, result.total_input) == (sizes, n_bytes)


def test_modes_are_put_back_layer_by_layer():
    model = models.cnn(torch)
    model.norm.eval()
    model.drop.eval()
    before = model.norm.running_mean.clone()
    modes = [layer.training for layer in model.modules()]
    summary(model, (4, 1, 28, 28), verbose=0)
    assert torch.equal(model.norm.running_mean, before)
    assert [layer.training for layer in model.modules()] == modes
    summary(model, (4, 1, 28, 28), mode="train", verbose=0)
    assert not torch.equal(model.norm.running_mean, before)
    assert [layer.training for layer in model.modules()] == modes


def test_a_model_that_fails_says_which_layers_ran_and_which_one_failed():
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(5, 6)), nn.Tanh())
    with pytest.raises(RuntimeError) as caught:
        summary(model, (2, 3), col_width=12)
    assert str(caught.value) == (
        "Failed to run torchinfo. See above stack traces for more details. "
        "Executed layers up to: [Linear: 1, ReLU: 2]"
    )
    assert "mat1 and mat2 shapes cannot be multiplied" in str(caught.value.__cause__)
    (note,) = caught.value.__notes__
    assert note.splitlines()[:9] == [
        "1.1, Linear(in_features=5, out_features=6, bias=True), failed. The layers up to it:",
        "=" * 64,
        "Layer (type:depth-idx)                   Output Shape Param #",
        "=" * 64,
        "Sequential                               --           --",
        "├─Linear: 1-1                            [2, 4]       16",
        "├─Sequential: 1-2                        --           --",
        "│    └─ReLU: 2-1                         [2, 4]       --",
        "│    └─Linear: 2-2                       --           36",
    ]
    assert [len(layer._forward_hooks) for layer in model.modules()] == [0] * 6
    assert [len(layer._forward_pre_hooks) for layer in model.modules()] == [0] * 6
    assert model.training


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"col_names": ("x",)}, ValueError, "'x' is not a valid ColumnSettings"),
        ({"row_settings": ("x",)}, ValueError, "'x' is not a valid RowSettings"),
        ({"mode": "x"}, ValueError, "'x' is not a valid Mode"),
        ({"verbose": 3}, ValueError, "Verbose must be either 0 (quiet), 1 (default), or 2"),
        ({"col_width": 0}, ValueError, "Column width must be greater than 0: col_width=0"),
        ({"input_size": ()}, ValueError, "Input_data is invalid, or negative size found"),
        ({"input_size": (-1, 3)}, ValueError, "Input_data is invalid, or negative size found"),
        ({"input_size": "ab"}, TypeError, "Input_size is not a recognized type."),
        (
            {"input_size": (2, 3), "input_data": torch.ones(2, 3)},
            RuntimeError,
            "Only one of (input_data, input_size) should be specified.",
        ),
        (
            {"col_names": ("mult_adds",)},
            ValueError,
            "You must pass input_data or input_size in order to use columns: "
            "{<ColumnSettings.MULT_ADDS: 'mult_adds'>}",
        ),
    ],
)
def test_wrong_arguments_are_refused(options, kind, message):
    with pytest.raises(kind) as caught:
        summary(nn.Linear(3, 4), **options)
    assert str(caught.value).startswith(message)


def test_a_kept_forward_pass_is_shown_again():
    class OnlyOnce(nn.Linear):
        n_calls = 0

        def forward(self, x):
            type(self).n_calls += 1
            return super().forward(x)

    model = OnlyOnce(3, 4)
    kept = {"cache_forward_pass": True, "verbose": 0}
    first = str(summary(model, (2, 3), **kept))
    assert str(summary(model, (2, 3), **kept)) == first
    assert OnlyOnce.n_calls == 1
    summary(model, (2, 3), verbose=0)
    assert OnlyOnce.n_calls == 2
