"""Code as it is shown: with shapes, with where a program was, in colours."""

import tapegrad as torch
from tapegrad import fx, nn


class Twice(nn.Module):
    def forward(self, x, *rest):
        y = x.relu()
        return y * 2


def test_readable_code_has_shapes_and_says_where_nodes_come_from():
    traced = fx.symbolic_trace(Twice())
    assert traced.print_readable(print_output=False) == (
        "class Twice(torch.nn.Module):\n"
        "    def forward(self, x, *rest):\n"
        "        _rest = rest\n"
        "\n"
        "        # No stacktrace found for following nodes\n"
        "        relu = x.relu();  x = None\n"
        "        mul = relu * 2;  relu = None\n"
        "        return mul\n"
    )
    for node in traced.graph.nodes:
        node.meta["val"] = torch.ones(3, 2).T
        node.stack_trace = 'File "net.py", line 3, in f\n    y = g(x)'
    assert traced.print_readable(False, include_stride=True, include_device=True) == (
        "class Twice(torch.nn.Module):\n"
        '    def forward(self, x: "f32[2, 3][1, 2]cpu", *rest: "f32[2, 3][1, 2]cpu"):\n'
        "        _rest = rest\n"
        "\n"
        "        # File: net.py:3 in f, code: y = g(x)\n"
        '        relu: "f32[2, 3][1, 2]cpu" = x.relu();  x = None\n'
        '        mul: "f32[2, 3][1, 2]cpu" = relu * 2;  relu = None\n'
        "        return mul\n"
    )


def test_colours_are_pytorchs():
    traced = fx.symbolic_trace(lambda x: (x + 1, 2))
    assert traced.print_readable(print_output=False, colored=True) == (
        "class <lambda>(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        \x1b[2m# No stacktrace found for following nodes\x1b[0m\n"
        "        add = x + \x1b[34m1\x1b[0m;  \x1b[2mx = None\x1b[0m\n"
        "        return (add, \x1b[34m2\x1b[0m)\n"
    )


def test_a_tracer_notes_where_the_program_was():
    class Noting(fx.Tracer):
        record_stack_traces = True

    nodes = list(Noting().trace(Twice()).nodes)
    assert nodes[0].stack_trace is None
    assert nodes[2].stack_trace.startswith(f'File "{__file__}", line ')
    assert nodes[2].stack_trace.endswith("in forward\n    y = x.relu()")
    assert all(n.stack_trace is None for n in Noting().trace(lambda x: x + 1).nodes)


def test_a_code_generator_of_a_program_is_given_what_pytorch_gives_it():
    class Listed(fx.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation):
            return (
                f"def forward(self, given){maybe_return_annotation}:\n    {free_vars[0]}, = given"
            )

        def generate_output(self, output_args):
            return f"return list({output_args!r})"

    traced = fx.symbolic_trace(lambda x: (x + 1, x))
    traced.graph.set_codegen(Listed())
    traced.recompile()
    assert [y.tolist() for y in traced([torch.ones(1)])] == [[2], [1]]
