"""Modules at PyTorch's paths that define nothing: a row of a table makes `torch.<path>`.

What is in them is defined elsewhere, or known by name and refused. A module is made when it is
first imported.
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any, NamedTuple

from tapegrad.compat.insides import with_submodules
from tapegrad.compat.refusal import refusing

ROOT = "tapegrad.compat.torch."

ONNX = (
    "tapegrad exports no models to ONNX: torch.save(model.state_dict(), path) writes weights that "
    "PyTorch reads and exports."
)
QUANTISATION = "tapegrad has no quantised tensors: keep the model in float32, float16 or bfloat16."
_PROGRAMS = (
    "tapegrad exports no programs: torch.jit.trace records calls, torch.save(model.state_dict(), "
    "path) writes weights that PyTorch reads."
)
_SPARSE = "tapegrad has sparse tensors of layouts torch.sparse_coo, sparse_csr and sparse_csc."

GIVEN: dict[str, dict[str, str]] = {
    "_C._distributed_c10d": {
        "distributed": (
            "Backend BuiltinCommHookType DebugLevel DistBackendError DistError DistNetworkError "
            "DistStoreError FileStore GradBucket HashStore PrefixStore ProcessGroup "
            "ProcessGroupGloo ReduceOp Reducer Store TCPStore Work get_debug_level "
            "set_debug_level set_debug_level_from_env"
        ),
        "distributed.constants": "default_pg_timeout=_DEFAULT_PG_TIMEOUT",
        "distributed.reduce_op": (
            "AllToAllOptions AllgatherOptions AllreduceCoalescedOptions AllreduceOptions "
            "BarrierOptions BroadcastOptions GatherOptions ReduceOptions ReduceScatterOptions "
            "ScatterOptions"
        ),
    },
    "_custom_ops": {"library.fake": "get_ctx"},
    "_dynamo.backends": {},
    "_dynamo.backends.debugging": {"compiler.graphs.explain_output": "ExplainOutput"},
    "_dynamo.decorators": {
        "compat.torch._dynamo": (
            "disallow_in_graph dont_skip_tracing error_on_graph_break forbid_in_graph graph_break "
            "mark_dynamic mark_static mark_static_address maybe_mark_dynamic nonstrict_trace "
            "patch_dynamo_config run skip_frame"
        ),
        "compiler.decorators": (
            "allow_in_graph assume_constant_result disable set_stance substitute_in_graph"
        ),
    },
    "_dynamo.output_graph": {"compiler.graphs.output_graph": "GraphCompileReason"},
    "_functorch.eager_transforms": {
        "func": (
            "debug_unwrap functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize "
            "vjp vmap"
        )
    },
    "_functorch.functional_call": {"func": "functional_call stack_module_state"},
    "_functorch.make_functional": {
        "func.functorch": (
            "FunctionalModule FunctionalModuleWithBuffers combine_state_for_ensemble "
            "make_functional make_functional_with_buffers"
        )
    },
    "_library": {"library.triton": "triton_op wrap_triton wrap_triton=capture_triton"},
    "_library.custom_ops": {"library.custom_op": "CustomOpDef custom_op"},
    "_library.infer_schema": {"library.infer": "infer_schema"},
    "_lowrank": {"": "pca_lowrank svd_lowrank"},
    "_ops": {
        "": "ops",
        "library.namespace": "_OpNamespace",
        "library.overload": "OpOverload OpOverloadPacket",
    },
    "_tensor": {
        "tensors.tensor": "Tensor",
        "serialization.rebuild": "rebuild_from_type=_rebuild_from_type_v2",
    },
    "accelerator.memory": {
        "compat.torch.accelerator": (
            "empty_cache empty_host_cache get_memory_info max_memory_allocated "
            "max_memory_reserved memory_allocated memory_reserved memory_stats "
            "reset_accumulated_memory_stats reset_peak_memory_stats"
        )
    },
    "ao.ns": {},
    "distributed._composable": {},
    "distributed._composable.fsdp": {
        "distributed.fsdp": (
            "CPUOffloadPolicy FSDPModule MixedPrecisionPolicy OffloadPolicy fully_shard "
            "register_fsdp_forward_method"
        )
    },
    "distributed._tensor": {
        "distributed.tensor": (
            "DTensor DeviceMesh Partial Placement Replicate Shard distribute_module "
            "distribute_tensor empty full init_device_mesh ones rand randn zeros"
        )
    },
    "distributed._tensor.experimental": {
        "compat.torch.distributed.tensor.experimental": "context_parallel implicit_replication"
    },
    "mtia.memory": {
        "compat.torch.mtia": "max_memory_allocated memory_stats reset_peak_memory_stats"
    },
    "nn": {},
    "onnx.utils": {
        "compat.torch.onnx": "register_custom_op_symbolic unregister_custom_op_symbolic"
    },
    "utils.model_zoo": {"hub": "load_state_dict_from_url=load_url tqdm"},
    "xpu.memory": {
        "compat.torch.xpu": (
            "MemPool empty_cache get_per_process_memory_fraction max_memory_allocated "
            "max_memory_reserved mem_get_info memory_allocated memory_reserved memory_snapshot "
            "memory_stats memory_stats_as_nested_dict reset_accumulated_memory_stats "
            "reset_peak_memory_stats set_per_process_memory_fraction"
        )
    },
    "xpu.random": {
        "compat.torch.xpu": (
            "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed "
            "seed_all set_rng_state set_rng_state_all"
        )
    },
    "xpu.streams": {"compat.torch.xpu": "Event Stream"},
}
"""Path -> module of tapegrad -> what it has of it, some under another name: `name=renamed`."""


class Refused(NamedTuple):
    """Functions and classes that refuse, and what to do instead."""

    advice: str
    functions: str = ""
    classes: str = ""


REFUSED = {
    "ao.nn.intrinsic": Refused(
        QUANTISATION,
        classes=(
            "BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d "
            "ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d "
            "LinearLeakyReLU LinearReLU LinearTanh _FusedModule"
        ),
    ),
    "ao.nn.qat": Refused(
        QUANTISATION, classes="Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"
    ),
    "ao.nn.quantized.dynamic": Refused(
        QUANTISATION, classes="Conv1d Conv2d Conv3d GRU GRUCell LSTM LSTMCell Linear RNNCell"
    ),
    "ao.pruning": Refused(
        "torch.nn.utils.prune sets weights to zero.",
        functions=(
            "fqn_to_module get_arg_info_from_tensor_fqn get_dynamic_sparse_quantized_mapping "
            "get_static_sparse_quantized_mapping module_to_fqn"
        ),
        classes=(
            "BaseScheduler BaseSparsifier CubicSL FakeSparsity LambdaSL NearlyDiagonalSparsifier "
            "WeightNormSparsifier"
        ),
    ),
    "export": Refused(
        _PROGRAMS,
        functions=(
            "Dim default_decompositions dims draft_export export export_for_training load "
            "register_dataclass save unflatten"
        ),
        classes=(
            "AdditionalInputs Constraint CustomDecompTable ExportBackwardSignature "
            "ExportGraphSignature ExportedProgram FlatArgsAdapter ModuleCallEntry "
            "ModuleCallSignature ShapesCollection UnflattenedModule"
        ),
    ),
    "export.dynamic_shapes": Refused(
        _PROGRAMS,
        functions="Dim dims refine_dynamic_shapes_from_suggested_fixes",
        classes="AdditionalInputs Constraint ShapesCollection",
    ),
    "export.exported_program": Refused(
        _PROGRAMS,
        functions="default_decompositions",
        classes="ExportedProgram ModuleCallEntry ModuleCallSignature",
    ),
    "export.graph_signature": Refused(
        _PROGRAMS,
        classes=(
            "ConstantArgument CustomObjArgument ExportBackwardSignature ExportGraphSignature "
            "InputKind InputSpec OutputKind OutputSpec SymBoolArgument SymFloatArgument "
            "SymIntArgument TensorArgument"
        ),
    ),
    "nested": Refused(
        "tapegrad has no nested tensors: pad them (torch.nn.utils.rnn.pad_sequence) and give a "
        "mask.",
        functions=(
            "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged "
            "to_padded_tensor"
        ),
    ),
    "onnx.utils": Refused(
        ONNX,
        functions=(
            "export exporter_context model_signature select_model_mode_for_export "
            "setup_onnx_logging unconvertible_ops unpack_quantized_tensor"
        ),
    ),
    "onnx.verification": Refused(
        ONNX,
        functions="find_mismatch verify verify_onnx_program",
        classes="VerificationInfo VerificationOptions",
    ),
    "sparse": Refused(
        _SPARSE,
        functions="as_sparse_gradcheck sampled_addmm solve spsolve to_sparse_semi_structured",
        classes=(
            "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT "
            "SparseSemiStructuredTensorCUTLASS"
        ),
    ),
    "sparse.semi_structured": Refused(
        _SPARSE,
        functions="to_sparse_semi_structured",
        classes=(
            "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT "
            "SparseSemiStructuredTensorCUTLASS"
        ),
    ),
}

OLDER = {
    "nn.intrinsic": "ao.nn.intrinsic",
    "nn.quantized": "ao.nn.quantized",
    "nn.quantized.dynamic": "ao.nn.quantized.dynamic",
    "quantization": "ao.quantization",
}
"""Path -> its newer name, whose module has the same."""

PATHS = GIVEN.keys() | REFUSED.keys() | OLDER.keys()


def names_of(path: str) -> Iterator[tuple[str, str, str]]:
    """What the module at `path` has of others: the module, the name there, the name here.

    >>> from tapegrad.compat.paths import names_of
    >>> list(names_of("_lowrank"))
    [('tapegrad', 'pca_lowrank', 'pca_lowrank'), ('tapegrad', 'svd_lowrank', 'svd_lowrank')]
    """
    for home, names in GIVEN.get(path, {}).items():
        for each in names.split():
            name, _, renamed = each.partition("=")
            yield f"tapegrad.{home}".rstrip("."), name, renamed or name


def below(path: str) -> str:
    """The modules of the tables that are submodules of that at `path`.

    >>> from tapegrad.compat.paths import below
    >>> below("_library")
    'custom_ops infer_schema'
    """
    return " ".join(sorted(each[len(path) + 1 :] for each in PATHS if _is_below(each, path)))


def _is_below(path: str, package: str) -> bool:
    return path.rpartition(".")[0] == package


class Finder:
    """Makes the modules of the tables, where all other finders have found nothing."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        within = name.removeprefix(ROOT)
        if within == name or within not in PATHS:
            return None
        return ModuleSpec(name, Finder, is_package=bool(below(within)))  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """None: a plain module."""

    @staticmethod
    def exec_module(module: Any) -> None:
        """Put the names there."""
        path = module.__name__.removeprefix(ROOT)
        if path in OLDER:
            newer = import_module(ROOT + OLDER[path])
            module.__doc__ = f"`torch.{path}`: the older name of `torch.{OLDER[path]}`."
            module.__all__ = getattr(newer, "__all__", [])
            vars(module).update({name: getattr(newer, name) for name in module.__all__})
            module.__getattr__ = newer.__getattribute__
        elif path in REFUSED:
            module.__doc__ = f"`torch.{path}` by name."
            names = REFUSED[path]._asdict()
            module.__getattr__ = refusing(module.__name__, submodules=below(path), **names)
        else:
            module.__doc__ = f"`torch.{path}`: names of what is defined elsewhere."
            module.__getattr__ = with_submodules(module.__name__, below(path))
        found = list(names_of(path))
        for home, name, here in found:
            setattr(module, here, getattr(import_module(home), name))
        if found:
            module.__all__ = [here for _, _, here in found]
