"""What RNN, LSTM and GRU share: sizes, and the variants of their backward functions."""

import re
from math import prod

from tapegrad.compiler.c_backend.templates.call import Instance, require
from tapegrad.compiler.c_backend.templates.shared import declared, wrapped
from tapegrad.core.annotations import Any


def sizes_of(at: Instance, x: Any, sizes: tuple[int, ...], state: Any) -> list[int]:
    """T, B, F, H of sequences of one length."""
    require(sizes and len(set(sizes)) == 1)
    features, hidden = at.shape(x)[-1], at.shape(state)[-1]
    require(hidden and features and at.shape(state) == (sizes[0], hidden))
    require(prod(at.shape(x)) == len(sizes) * sizes[0] * features)
    return [len(sizes), sizes[0], features, hidden]


def work_of(sizes: list[int]) -> int:
    """About how many numbers a layer of four gates computes."""
    t, batch, _, hidden = sizes
    return 4 * t * batch * hidden


def without_threads(source: str, name: str) -> str:
    """The function `name`_real that calls `name`_shared_real with no threads."""
    kind, parameters = declared(source, f"{name}_shared")
    given = ", ".join([re.findall(r"\w+", x)[-1] for x in parameters[:-1]])
    head = f"static {kind} {name}_real({', '.join(parameters[:-1])}) {{"
    return f"{wrapped(head, 0)}{wrapped(f'{name}_shared_real({given}, 0);')}}}\n"


def variants(name: str, states: str, parameters: str) -> str:
    """Functions `name`_IB_real that call `name`_real with the results that are there, and
    `name`_IB_shared_real.

    I: whether the gradient of the input is wanted; B: whether there are biases. `states` names
    the gradients of the states, `parameters` declares what follows the results.
    """
    given = ", ".join(re.findall(r"(\w+)(?=,|$)", parameters))
    source = ""
    for wants_input in (0, 1):
        for has_bias in (0, 1):
            every = f"gx {states} gw_ih gw_hh gb_ih gb_hh".split()
            absent = ["gx"] * (not wants_input) + ["gb_ih", "gb_hh"] * (not has_bias)
            results = ", ".join(f"real *{x}" for x in every if x not in absent)
            passed = ", ".join("0" if x in absent else x for x in every)
            for how, threads, number in (
                ("", "", "0"),
                ("_shared", ", int64_t threads", "threads"),
            ):
                source += (
                    f"static void {name}_{wants_input}{has_bias}{how}_real({results},\n"
                    f"    {parameters}{threads}) {{\n"
                    f"    {name}_real({passed},\n        {given}, {number});\n}}\n"
                )
    return source
