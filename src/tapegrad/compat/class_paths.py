"""Classes under the names that PyTorch gives them, while `import torch` is served by tapegrad.

`nn.Linear` calls itself `torch.nn.modules.linear.Linear` then: in its repr, in pickles, and where
`typing.get_type_hints` and `inspect` look for the module of a class. A class is renamed when the
module that defines it has run; without `compat.install()` nothing here is imported.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import tapegrad
from tapegrad.core.missing import torch_name

_PACKAGES = tuple(
    f"tapegrad.{name}"
    for name in "amp autograd.forward_ad autograd.functional autograd.profiler compat.torch cpu "
    "cuda data distributed distributions func fx jit masked multiprocessing nn optim overrides "
    "profiler return_types serialization storage testing utils".split()
)
"""Packages whose modules PyTorch has by the same name."""

_MOVED = {
    "autograd.anomaly_mode": ("torch.autograd.anomaly_mode", "detect_anomaly set_detect_anomaly"),
    "autograd.grad_mode": (
        "torch.autograd.grad_mode",
        "enforce_grad_layout_policy set_multithreading_enabled",
    ),
    "autograd.mode": (
        "torch.autograd.grad_mode",
        "enable_grad inference_mode no_grad set_grad_enabled",
    ),
    "autograd.saved_tensor_hooks": ("torch.autograd.graph", "save_on_cpu saved_tensors_hooks"),
    "compiler.decorators": ("torch._dynamo.decorators", "set_stance"),
    "compiler.optimized_module": ("torch._dynamo.eval_frame", "OptimizedModule"),
    "core.device": ("torch", "device"),
    "core.dtype": ("torch", "dtype"),
    "core.generator": ("torch._C", "Generator"),
    "core.limits": ("torch", "finfo iinfo"),
    "core.size": ("torch", "Size"),
    "distributed.backend_names": ("torch.distributed.distributed_c10d", "Backend BackendConfig"),
    "distributed.debug_level": ("torch.distributed.distributed_c10d", "DebugLevel"),
    "distributed.file_store": ("torch._C._distributed_c10d", "FileStore"),
    "distributed.groups": ("torch.distributed.distributed_c10d", "GroupMember group"),
    "distributed.point_to_point": ("torch.distributed.distributed_c10d", "P2POp"),
    "distributed.process_group": (
        "torch.distributed.distributed_c10d",
        "ProcessGroup ProcessGroupGloo",
    ),
    "distributed.reduce_op": (
        "torch.distributed.distributed_c10d",
        "AllToAllOptions AllreduceCoalescedOptions AllreduceOptions BarrierOptions "
        "BroadcastOptions GatherOptions ReduceOp ReduceOptions ReduceScatterOptions "
        "ScatterOptions",
    ),
    "distributed.reducer": ("torch._C._distributed_c10d", "BuiltinCommHookType GradBucket Reducer"),
    "distributed.store": ("torch.distributed.distributed_c10d", "PrefixStore Store"),
    "distributed.tcp_store": ("torch._C._distributed_c10d", "TCPStore"),
    "distributed.work": ("torch.distributed.distributed_c10d", "Work"),
    "fx.codegen": ("torch.fx.graph", "CodeGen"),
    "jit._async": ("torch.jit", "Future"),
    "jit._fuser": ("torch.jit", "strict_fusion"),
    "jit._script": ("torch.jit", "CompilationUnit ScriptFunction"),
    "jit.modifiers": ("torch.jit._script", "Attribute"),
    "jit.recorder": ("torch.jit._trace", "TracerWarning"),
    "jit.trace_check": ("torch.jit._trace", "TracingCheckError"),
    "jit.traced_module": ("torch.jit._trace", "TopLevelTracedModule TracedModule"),
    "jit.types": (
        "torch",
        "AnyType BoolType ComplexType DeviceObjType DictType FloatType IntType ListType "
        "NoneType NumberType OptionalType StringType TensorType TupleType Type",
    ),
    "library.libraries": ("torch.library", "Library"),
    "library.tag": ("torch", "Tag"),
    "nn.attention.block_mask": ("torch.nn.attention.flex_attention", "BlockMask"),
    "nn.functional.loss": (
        "torch.nn.modules.linear_cross_entropy_options",
        "LinearCrossEntropyOptions",
    ),
    "optim.adafactor": ("torch.optim", "Adafactor"),
    "optim.muon": ("torch.optim", "Muon"),
    "profiler.block": ("torch.autograd.profiler", "emit_itt emit_nvtx record_function"),
    "profiler.event": ("torch.autograd.profiler_util", "FunctionEvent"),
    "quasirandom": ("torch.quasirandom", "SobolEngine"),
    "serialization.allowed": ("torch.serialization", "safe_globals"),
    "serialization.skip_data": ("torch.serialization", "skip_data"),
    "sparse.creation": ("torch.sparse", "check_sparse_tensor_invariants"),
    "symbolic_numbers": ("torch", "SymBool SymFloat SymInt"),
    "utils._pytree.registry": (
        "torch.utils._pytree",
        "ConstantNode GetAttrKey MappingKey NodeDef SequenceKey",
    ),
    "utils._pytree.treespec": ("torch.utils._pytree", "LeafSpec TreeSpec"),
    "utils.checkpoint.run": ("torch.utils.checkpoint", "CheckpointFunction DefaultDeviceType"),
}
"""Module of tapegrad -> where PyTorch has classes of it, if elsewhere."""

_WHOLE = frozenset(["tapegrad.optim", "tapegrad.return_types"])
"""Packages whose classes, made on their first use, are all to be there at once."""

_renamed: list[tuple[type, str]] = []


class _Follower:
    """Renames the classes of each module of tapegrad after it has run."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name[:9] != "tapegrad.":
            return None
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = spec and spec.loader
        if loader is not None:
            run = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                rename(module)

            loader.exec_module = exec_module
        return spec


def follow() -> None:
    """Rename the classes of all modules of tapegrad, of those yet to come when they come."""
    for name in [name for name in sys.modules if name[:9] == "tapegrad."]:
        rename(sys.modules[name])
    tapegrad.__name__ = "torch"
    sys.meta_path.insert(0, _Follower)


def unfollow() -> None:
    """Undo `follow`."""
    sys.meta_path.remove(_Follower)
    tapegrad.__name__ = "tapegrad"
    while _renamed:
        each, home = _renamed.pop()
        each.__module__ = home


def rename(module: ModuleType) -> None:
    """Give the classes that `module` defines the paths that they have in PyTorch."""
    ours = module.__name__
    moved, names = _MOVED.get(ours[9:], ("", ""))
    theirs = torch_name(ours) if ours.startswith(_PACKAGES) else None
    if theirs is None and not moved:
        return
    if ours in _WHOLE:
        for name in getattr(module, "__all__", dir(module)):
            getattr(module, name)
    elsewhere = names.split()
    for name, each in list(vars(module).items()):
        if not isinstance(each, type) or each.__module__ != ours:
            continue
        home = moved if name in elsewhere else theirs
        if home is not None:
            _renamed.append((each, ours))
            each.__module__ = home
    if theirs is not None and not ours.startswith("tapegrad.compat."):
        sys.modules.setdefault(theirs, module)  # where a class is looked for by its path
