"""What programs import by name, and what is refused when it is used."""

import importlib

import pytest

import tapegrad as torch
from tapegrad.compat.torch.ao.nn.quantized import FloatFunctional
from tapegrad.compat.torch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper
from tapegrad.compat.torch.onnx import operators, symbolic_helper
from tests.command import run_code
from tests.messages import raises

HOME = "tapegrad.compat.torch"


@pytest.mark.parametrize(
    "name",
    [
        "sparse.spsolve", "nested.nested_tensor",
        "sparse.semi_structured.to_sparse_semi_structured",
        "export.export", "export.Dim", "export.dynamic_shapes.Dim",
        "export.graph_signature.InputSpec", "export.exported_program.ExportedProgram",
        "onnx.export", "onnx.utils.export", "onnx.symbolic_opset11.unsqueeze",
        "onnx.symbolic_helper._is_none", "onnx.verification.verify", "quantization.prepare",
        "ao.quantization.convert", "ao.quantization.MinMaxObserver", "ao.pruning.CubicSL",
        "ao.quantization.quantize_fx.prepare_fx", "ao.quantization.observer.HistogramObserver",
        "ao.quantization.qconfig.QConfig", "ao.quantization.fake_quantize.FakeQuantize",
        "ao.nn.quantized.Linear", "ao.nn.quantized.dynamic.LSTM", "ao.nn.intrinsic.ConvReLU2d",
        "ao.nn.qat.Linear", "nn.quantized.Conv2d", "nn.intrinsic.ConvBn2d",
        "_subclasses.FakeTensorMode", "_subclasses.fake_tensor.FakeTensorMode",
        "fx.experimental.proxy_tensor.make_fx",
    ],
)  # fmt: skip
def test_names_resolve_and_refuse(name):
    module, _, last = name.rpartition(".")
    found = getattr(importlib.import_module(f"{HOME}.{module}"), last)
    assert found is getattr(importlib.import_module(f"{HOME}.{module}"), last) or "opset" in name
    with pytest.raises(NotImplementedError, match=f"{last} is not supported in tapegrad"):
        found()


@pytest.mark.parametrize("name", ["sparse", "nested", "export", "onnx", "ao.nn", "ao.ns"])
def test_other_names_are_missing(name):
    module = importlib.import_module(f"{HOME}.{name}")
    with pytest.raises(AttributeError, match=f"module 'torch.{name}' has no attribute 'toaster'"):
        module.toaster  # noqa: B018


def test_nothing_is_an_instance_of_what_refuses():
    kind = torch.sparse.SparseSemiStructuredTensor
    assert not isinstance(torch.ones(1), kind)
    with raises(
        NotImplementedError, "torch.sparse.SparseSemiStructuredTensor is not supported in tapegrad"
    ):
        kind()


def test_no_tensor_is_one_of_pytorchs_compiler():
    fake, proxy = (
        importlib.import_module(f"{HOME}.{name}")
        for name in ("_subclasses.fake_tensor", "fx.experimental.proxy_tensor")
    )
    x = torch.ones(1)
    assert not fake.is_fake(x) and not isinstance(x, fake.FakeTensor)
    assert proxy.get_proxy_mode() is None
    sizes = importlib.import_module(f"{HOME}.fx.experimental.symbolic_shapes")
    assert sizes.guard_or_false(x.shape[0] == 1) and not sizes.statically_known_true(0 == x.dim())
    assert sizes.free_symbols(x) == set()


def test_they_are_imported_as_pytorchs():
    run_code(
        "from tapegrad import compat; compat.install()\n"
        "import torch, torch.onnx.symbolic_opset11, torch.nn.quantized\n"
        "from torch.onnx.symbolic_helper import parse_args\n"
        "from torch.ao.quantization import QuantStub\n"
        "from torch.export import Dim\n"
        "assert torch.ao.quantization.QuantStub is torch.quantization.QuantStub\n"
        "assert torch.nn.quantized.FloatFunctional is torch.ao.nn.quantized.FloatFunctional\n"
    )


def test_an_export_is_not_running_and_its_rules_are_noted():
    assert not torch.onnx.is_in_onnx_export() and not torch.onnx.is_onnxrt_backend_supported()
    rule = symbolic_helper.parse_args("v")(lambda g, x: x)
    torch.onnx.register_custom_op_symbolic("mine::op", rule, 11)
    assert torch.onnx.SYMBOLIC["mine::op", 11] is rule
    torch.onnx.unregister_custom_op_symbolic("mine::op", 11)
    assert ("mine::op", 11) not in torch.onnx.SYMBOLIC
    x = torch.arange(4)
    assert operators.reshape_from_tensor_shape(x, torch.tensor([2, 2])).shape == (2, 2)
    assert issubclass(torch.onnx.errors.UnsupportedOperatorError, torch.onnx.OnnxExporterError)


def test_marks_of_quantisation_change_nothing():
    x = torch.tensor([-1.0, 2.0])
    assert QuantStub()(x) is x and DeQuantStub()(x) is x
    model = QuantWrapper(torch.nn.ReLU()).eval()
    assert model(x).tolist() == [0, 2] and [name for name, _ in model.named_children()] == [
        "quant",
        "dequant",
        "module",
    ]
    f = FloatFunctional()
    assert f.add(x, x).tolist() == [-2, 4] and f.mul(x, x).tolist() == [1, 4]
    assert f.add_scalar(x, 1).tolist() == [0, 3] and f.mul_scalar(x, 2).tolist() == [-2, 4]
    assert f.cat([x, x]).tolist() == [-1, 2, -1, 2] and f.add_relu(x, x).tolist() == [0, 4]
    assert f.matmul(x, x).item() == 5
    with pytest.raises(RuntimeError, match="FloatFunctional is not intended to use the 'forward'"):
        f(x)
