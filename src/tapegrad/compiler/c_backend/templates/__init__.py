"""C functions for kernels of the array namespace: layer norm, softmax, attention, LSTM, ...

`call_for(instruction, constants)` says what to call in place of an instruction; `call` has the
convention. `LIBRARY.source(names)` is the C text of functions and of what they need. Products are
made by `gemm_f32` and `gemm_f64`, pointers to CBLAS functions with sizes of 64 bits: whoever loads
the compiled text sets them.
"""

from tapegrad.arrays.traced.program import Instruction
from tapegrad.compiler.c_backend import vector_math
from tapegrad.compiler.c_backend.c_text import Library, of_type
from tapegrad.compiler.c_backend.templates import (
    attention,
    batch_group_norm,
    common,
    concat_stack,
    cumsum_argmax,
    embedding,
    gather_scatter,
    gru,
    interpolate,
    layer_norm,
    lstm,
    max_pool,
    nll_cross_entropy,
    panel_product,
    rnn,
    small_product,
    softmax,
)
from tapegrad.compiler.c_backend.templates.call import TEMPLATES, Call, Instance, Strided, Uncovered
from tapegrad.core.annotations import Any


def _library() -> Library:
    families = (
        small_product,
        panel_product,
        layer_norm,
        batch_group_norm,
        softmax,
        nll_cross_entropy,
        attention,
        lstm,
        gru,
        rnn,
        max_pool,
        interpolate,
        embedding,
        gather_scatter,
        concat_stack,
        cumsum_argmax,
    )
    untyped = (common, concat_stack, gather_scatter)
    library = Library("\n".join(x.UNTYPED for x in untyped), below=vector_math.LIBRARY)
    for module in (common, *families):
        text = getattr(module, "SOURCE", "")
        typed = [of_type(text, suffix) for suffix in ("f32", "f64")]
        library = Library("\n".join(typed), below=library)
    return library


LIBRARY = _library()
"""Vector math and all functions of the templates."""


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
