"""What `torch._dynamo.explain` gives back."""

from dataclasses import dataclass
from typing import Any

from tapegrad.compiler.graphs.output_graph import GraphCompileReason
from tapegrad.fx.graph_module import GraphModule


@dataclass
class ExplainOutput:
    """The graphs of a call, and why there is not one.

    `out_guards` is empty and `compile_times` None: nothing is compiled that they could be of.
    """

    graphs: list[GraphModule]
    graph_count: int
    graph_break_count: int
    break_reasons: list[GraphCompileReason]
    op_count: int
    ops_per_graph: list[list[Any]] | None = None
    out_guards: list[Any] | None = None
    compile_times: str | None = None

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
        ]
        for number, reason in enumerate(self.break_reasons, start=1):
            lines += [f"  Break Reason {number}:", f"    Reason: {reason.reason}"]
            lines += ["    User Stack:", *(f"      {frame}" for frame in reason.user_stack)]
        if self.ops_per_graph is not None:
            lines.append("Ops per Graph:")
            for number, ops in enumerate(self.ops_per_graph, start=1):
                lines += [f"  Ops {number}:", *(f"    {op}" for op in ops)]
        if self.out_guards is not None:
            lines.append("Out Guards:")
            lines += [f"  {guard}" for guard in self.out_guards]
        if self.compile_times is not None:
            lines.append(f"Compile Times: {self.compile_times}")
        return "\n".join([*lines, ""])


def explained(graphs: list[GraphModule], reasons: list[GraphCompileReason]) -> ExplainOutput:
    """What is told of the graphs of a call, and of why each but the last one ended."""
    ops = [[n.target for n in each.graph.nodes if n.op == "call_function"] for each in graphs]
    return ExplainOutput(
        graphs=graphs,
        graph_count=len(graphs),
        graph_break_count=len(graphs) - 1,
        break_reasons=reasons,
        op_count=sum(map(len, ops)),
        ops_per_graph=ops,
        out_guards=[],
    )
