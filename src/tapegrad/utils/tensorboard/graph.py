"""The operators of one call of a model as TensorBoard's graph."""

import inspect

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.versions_pb2 import VersionDef

from tapegrad.core.annotations import Any, ModuleLike, Sequence
from tapegrad.core.errors import runtime_error
from tapegrad.inspect.operator_calls import OperatorCalls, tensors_in
from tapegrad.inspect.summary import in_mode
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.tensorboard.summary import _shape_proto


def graph(model: ModuleLike, inputs: Sequence, verbose: bool = False) -> tuple[Any, Any]:
    """A GraphDef, and a RunMetadata that names the device.

    The model is called once, in evaluation mode and without recording. A node is named after the
    layer that ran and the operator: `Net/Sequential[body]/Linear[0]/addmm`. Parameters and buffers
    are nodes `prim::GetAttr` of the layer that has them; what goes in and out, `IO Node`.

    >>> from tapegrad.utils.tensorboard.graph import graph
    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 4, bias=False), torch.nn.ReLU())
    >>> for node in graph(model, torch.ones(2, 3))[0].node:
    ...     print(node.name, list(node.input))
    input/input []
    Sequential/Linear[0]/weight []
    Sequential/Linear[0]/t ['Sequential/Linear[0]/weight']
    Sequential/Linear[0]/mm ['input/input', 'Sequential/Linear[0]/t']
    Sequential/ReLU[1]/relu ['Sequential/Linear[0]/mm']
    output/output.1 ['Sequential/ReLU[1]/relu']
    """
    if inputs is None:
        raise runtime_error(
            "example_kwarg_inputs should be a dict",
            "Give add_graph the input of the model, or a tuple of its inputs.",
        )
    inputs = (inputs,) if isinstance(inputs, Tensor | dict) else tuple(inputs)
    recorded = OperatorCalls(model)
    with in_mode(model, training=False):
        output = recorded.run(*inputs)
    drawing = _Drawing(model)
    for name, x in zip(_input_names(model), inputs, strict=False):
        for number, tensor in enumerate(tensors_in(x)):
            drawing.add_input(f"{name}.{number}" if number else name, tensor)
    for call in recorded.calls:
        drawing.add_call(call)
    for number, tensor in enumerate(tensors_in(output), start=1):
        drawing.add_output(f"output.{number}", recorded.origin(tensor), tensor)
    if verbose:
        for node in drawing.nodes:
            print(f"{node.name} = {node.op}({', '.join(node.input)})")
    device = StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")])
    return (
        GraphDef(node=drawing.nodes, versions=VersionDef(producer=22)),
        RunMetadata(step_stats=device),
    )


def _input_names(model):
    """The names of the arguments of `forward`, then numbers."""
    for parameter in inspect.signature(model.forward).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        yield parameter.name
    yield from (f"input.{number}" for number in range(1, 1000))


class _Drawing:
    """The nodes of a graph as they are added."""

    def __init__(self, model):
        self.nodes = []
        self._names = set()
        self._scopes = {}  # dotted name of a layer -> the start of its nodes' names
        self._held = {}  # id of a parameter or buffer -> (scope, name)
        self._made = {}  # id of an operator's call, or of a tensor from outside -> name of its node
        for path, layer in model.named_modules():
            scope = self._scopes[path] = _scope(model, path)
            own = [*layer._parameters.items(), *layer._buffers.items()]
            self._held |= {id(x): (scope, name) for name, x in own if x is not None}

    def add_input(self, name, tensor):
        self._made[id(tensor)] = self._add(f"input/{name}", "IO Node", [], {}, [tensor.shape])

    def add_output(self, name, origin, tensor):
        sources = [self._source(origin)]
        self._add(f"output/{name}", "IO Node", sources, {}, [tensor.shape])

    def add_call(self, call):
        sources = [self._source(origin) for origin in call.sources]
        title = f"{self._scopes[call.layer]}/{call.name}"
        name = self._add(title, f"aten::{call.name}", sources, call.options, call.shapes)
        self._made[id(call)] = name

    def _source(self, origin):
        """The name of an operator's output; of a tensor from outside, a node is added for it."""
        if origin.call is not None:
            name = self._made[id(origin.call)]
            return f"{name}:{origin.output}" if origin.output else name
        tensor = origin.tensor
        name = self._made.get(id(tensor))
        if name is None:
            if id(tensor) in self._held:
                scope, own = self._held[id(tensor)]
                title, op, options = f"{scope}/{own}", "prim::GetAttr", {"name": own}
            else:
                title, op, options = f"{self._scopes['']}/constant", "prim::Constant", {}
            name = self._made[id(tensor)] = self._add(title, op, [], options, [tensor.shape])
        return name

    def _add(self, title, op, sources, options, shapes):
        name, number = title, 0
        while name in self._names:
            number += 1
            name = f"{title}_{number}"
        self._names.add(name)
        shown = ", ".join(f"{key} : {value}" for key, value in options.items())
        attr = {
            "_output_shapes": AttrValue(
                list=AttrValue.ListValue(shape=[_shape_proto(shape) for shape in shapes])
            ),
            "attr": AttrValue(s=f"{{ {shown}}}".encode() if shown else b"{}"),
        }
        self.nodes.append(NodeDef(name=name, op=op, input=sources, attr=attr))
        return name


def _scope(model, path):
    """`Net/Sequential[body]/Linear[0]` for `body.0`."""
    parts = [type(model).__name__]
    layer = model
    for name in path.split(".") if path else ():
        layer = layer._modules[name]
        parts.append(f"{type(layer).__name__}[{name}]")
    return "/".join(parts)
