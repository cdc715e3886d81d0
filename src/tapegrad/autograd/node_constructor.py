"""The constructor of nodes: what every node is made of, written once.

The functions of a plan are composed as text, and so is what makes its nodes: the lines of `wiring`
with the expressions of one operator in them. A call of a method less is a tenth of what it costs to
record a small operator.
"""

from tapegrad.autograd.node import next_sequence
from tapegrad.core.annotations import Any, Callable, PlanLike


def wiring(
    edges: list[str], saved: list[str], versions: str = "None", restore: str = "None"
) -> list[str]:
    """The lines that make a node, in a function that knows what `scope_of` gives.

    >>> from tapegrad.autograd.node_constructor import wiring
    >>> for line in wiring(["node.edges = edges"], ["node.saved = ()"]):
    ...     print(line.strip())
    node = kind()
    node.plan = plan
    node.edges = edges
    node.saved = ()
    node.hooks = node.output_version = None
    node.versions = node.restore = None
    node.sequence = next_sequence()
    return node
    """
    rest = [f"node.versions = {versions}", f"node.restore = {restore}"]
    if versions == restore == "None":
        rest = ["node.versions = node.restore = None"]
    lines = [
        "node = kind()",
        "node.plan = plan",
        *edges,
        *saved,
        "node.hooks = node.output_version = None",
        *rest,
        "node.sequence = next_sequence()",
        "return node",
    ]
    return [f"    {line}" for line in lines]


def scope_of(kind: type, plan: PlanLike) -> dict[str, Any]:
    """The names in the lines: the class of the nodes, their plan, and what numbers them."""
    return {"kind": kind, "next_sequence": next_sequence, "plan": plan}


def constructor(kind: type, plan: PlanLike) -> Callable:
    """`make(edges, saved)` for nodes of no operator, such as those of writes through views."""
    lines = ["def make(edges, saved):"]
    lines += wiring(["node.edges = edges"], ["node.saved = saved"])
    scope = scope_of(kind, plan)
    exec("\n".join(lines), scope)
    return scope["make"]
