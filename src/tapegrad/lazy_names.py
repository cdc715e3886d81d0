"""Names that are loaded on their first use, so that `import tapegrad` stays quick.

`tapegrad.operators` does not import the operators that few programs need: the table `FUNCTIONS`
says which names of `torch` their files have. Each file lists its own, as `__torch__`.
"""

from tapegrad.core import registration
from tapegrad.lazy_table import FUNCTIONS


def function_names() -> set[str]:
    """All names of `torch` that are loaded on their first use."""
    return {name for names in FUNCTIONS.values() for name in names.split()}


def fill_slots() -> None:
    """Register what lower floors ask of higher ones, each loaded when it is first asked for."""
    registration.AUTOCAST.register_module("tapegrad.amp.cast")
    registration.BATCHED_NAMESPACE.register_module("tapegrad.arrays.batched.namespace")
    registration.META_NAMESPACE.register_module("tapegrad.arrays.meta.namespace")
    registration.CUSTOM_FUNCTIONS.register_module("tapegrad.func.custom_function")
    registration.DISPATCH_CLASSES.register_module("tapegrad.overrides.dispatch_class")
    registration.FRONT_DOOR.register_module("tapegrad")
    registration.NODE_CALLS.register_module("tapegrad.autograd.call_node")
    registration.NO_FORMULA.register_module("tapegrad.operators.no_formula")
    registration.NOTEBOOK.register_module("tapegrad.inspect.notebook")
    registration.AS_STRIDED.register_module("tapegrad.operators.shape.as_strided")
    registration.OVERWRITES.register_module("tapegrad.operators.indexing.copy_fill_zero")
    registration.PER_SAMPLE.register_module("tapegrad.func.per_sample")
    registration.RANDOMNESS.register_module("tapegrad.func.randomness")
    registration.TANGENT_VIEWS.register_module("tapegrad.operators.shape.forward_ad_views")
    registration.SPARSE.register_module("tapegrad.sparse")
    registration.SPARSE_REFUSALS.register_module("tapegrad.compat.torch.sparse")
    registration.TENSOR_NAMESPACE.register_module("tapegrad.tensors.arrays.namespace")
    registration.TRANSFORM_STACK.register_module("tapegrad.func.level")
    registration.WRITE_OUT.register_module("tapegrad.dispatch.out")
    registration.VJP_BATCH.register_module("tapegrad.func.jacobian")
