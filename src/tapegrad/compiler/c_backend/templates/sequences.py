"""What RNN, LSTM and GRU share: sizes, and the variants of their backward functions."""

import re
from math import prod

from tapegrad.compiler.c_backend.templates.call import Instance, require
from tapegrad.core.annotations import Any


def sizes_of(at: Instance, x: Any, sizes: tuple[int, ...], state: Any) -> list[int]:
    """T, B, F, H of sequences of one length."""
    require(sizes and len(set(sizes)) == 1)
    features, hidden = at.shape(x)[-1], at.shape(state)[-1]
    require(hidden and features and at.shape(state) == (sizes[0], hidden))
    require(prod(at.shape(x)) == len(sizes) * sizes[0] * features)
    return [len(sizes), sizes[0], features, hidden]


def variants(name: str, states: str, parameters: str) -> str:
    """Functions `name`IB_real that call `name`_real with the results that are there.

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
            source += (
                f"static void {name}_{wants_input}{has_bias}_real({results},\n"
                f"    {parameters}) {{\n    {name}_real({passed},\n        {given});\n}}\n"
            )
    return source
