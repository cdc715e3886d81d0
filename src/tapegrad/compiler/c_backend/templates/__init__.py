"""C functions for kernels of the array namespace: layer norm, softmax, attention, LSTM, ...

`call_for(instruction, constants)` says what to call in place of an instruction; `call` has the
convention. `library().source(names)` is the C text of functions and of what they need. Products are
made by `gemm_f32` and `gemm_f64`, pointers to CBLAS functions with sizes of 64 bits: whoever loads
the compiled text sets them.
"""

from functools import cache

from tapegrad.arrays.traced.program import Instruction
from tapegrad.compiler.c_backend import vector_math
from tapegrad.compiler.c_backend.c_text import Library, of_type
from tapegrad.compiler.c_backend.templates import (
    attention,
    batch_group_norm,
    common,
    concat_stack,
    conv,
    cumsum_argmax,
    embedding,
    gather_scatter,
    gelu,
    gemm,
    gru,
    interpolate,
    layer_norm,
    lstm,
    matmul,
    max_pool,
    nll_cross_entropy,
    optimizer_step,
    product_tile,
    rnn,
    small_product,
    softmax,
    sum_axis,
    where,
)
from tapegrad.compiler.c_backend.templates.call import TEMPLATES, Call, Instance, Strided, Uncovered
from tapegrad.core.annotations import Any


@cache
def basics() -> Library:
    """Vector math and what several families use: all that most programs need."""
    untyped = (common, product_tile, gemm, concat_stack, conv, gather_scatter)
    library = Library("\n".join(x.UNTYPED for x in untyped), below=vector_math.LIBRARY)
    return _with(library, common)


@cache
def library() -> Library:
    """Vector math and all functions of the templates, whose texts take long to take apart."""
    families = (
        product_tile,
        gemm,
        small_product,
        layer_norm,
        batch_group_norm,
        softmax,
        nll_cross_entropy,
        attention,
        lstm,
        gru,
        rnn,
        max_pool,
        conv,
        interpolate,
        embedding,
        gather_scatter,
        gelu,
        matmul,
        optimizer_step,
        where,
        concat_stack,
        cumsum_argmax,
        sum_axis,
    )
    found = basics()
    for module in families:
        found = _with(found, module)
    return found


def _with(library: Library, module: Any) -> Library:
    """A library with the functions of a module as well."""
    text = getattr(module, "SOURCE", "")
    typed = [of_type(text, suffix) for suffix in ("f32", "f64")]
    return Library("\n".join(typed), below=library)


def call_for(instruction: Instruction, constants: list[Any]) -> Call | None:
    """The call of C for an instruction; None if this instance has no template.

    `constants` are those of the instruction's program.
    """
    make = TEMPLATES.get(instruction.text)
    if make is None:
        return None
    try:
        return make(Instance(instruction, constants))
    except Uncovered:
        return None
