"""`DistributedDataParallel`: one copy of a model in each process, gradients averaged."""

import copy
from contextlib import contextmanager
from dataclasses import fields, is_dataclass

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.errors import advised, not_implemented, runtime_error, value_error
from tapegrad.distributed.algorithms.ddp_comm_hooks import default_hooks
from tapegrad.distributed.algorithms.join import Join, Joinable, JoinHook
from tapegrad.distributed.collectives import broadcast
from tapegrad.distributed.groups import _get_default_group
from tapegrad.distributed.object_collectives import all_gather_object
from tapegrad.distributed.reducer import BuiltinCommHookType, Reducer
from tapegrad.nn.modules.module import Module
from tapegrad.nn.parallel import joining
from tapegrad.nn.parameter import UninitializedParameter
from tapegrad.tensors.tensor import Tensor

__all__ = ["DistributedDataParallel"]

_MIB = 1024 * 1024
_BF16_HOOKS = {"bf16_compress_hook", "bf16_compress_wrapper_hook"}


def _find_tensors(x: Any) -> list:
    """The tensors in what a `forward` gives."""
    if isinstance(x, Tensor):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    elif is_dataclass(x) and not isinstance(x, type):
        x = [getattr(x, each.name) for each in fields(x)]
    if isinstance(x, (list, tuple)):
        return [tensor for each in x for tensor in _find_tensors(each)]
    return []


class DistributedDataParallel(Module, Joinable):
    """A model of which each process has a copy; `backward` leaves the mean of all gradients.

    Args:
        module: The model; at least one parameter needs a gradient.
        device_ids, output_device: None, for a model on the CPU.
        broadcast_buffers: Let `forward` take rank 0's buffers.
        process_group: The processes; the default group if None.
        bucket_cap_mb: The size from which gradients are reduced together; 25 MiB if None.
        find_unused_parameters: Look, after each forward pass, which parameters get no gradient.
        gradient_as_bucket_view: Leave gradients where they were reduced, without a copy of them.
        static_graph: The same parameters get gradients in each pass.

    Raises:
        ValueError: There is no default group, or devices were given.
        RuntimeError: No parameter needs a gradient, or one has no shape yet.

    >>> torch.distributed.init_process_group(
    ...     "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    ... )
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    >>> model(torch.ones(3, 2)).sum().backward()
    >>> list(model.state_dict()), model.module.weight.grad
    (['module.weight', 'module.bias'], tensor([[3., 3.]]))
    >>> torch.distributed.destroy_process_group()
    """

    module: Module

    def __init__(
        self,
        module: Module,
        device_ids: Sequence | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        if process_group is not None and device_mesh is not None:
            raise runtime_error(
                "Cannot specify both process_group and device_mesh arguments.", "Give one of them."
            )
        for name, value in (
            ("mixed_precision", mixed_precision),
            ("delay_all_reduce_named_params", delay_all_reduce_named_params),
        ):
            if value is not None:
                raise not_implemented(
                    f"tapegrad has no {name} of DistributedDataParallel", "Leave it away."
                )
        if device_mesh is not None:
            process_group = device_mesh.get_group(0)
        self.process_group = _get_default_group() if process_group is None else process_group
        self._module_parameters = self._synchronised(module)
        self._check_parameters(module)
        self._check_devices(device_ids, output_device)
        first = self._module_parameters[0]
        self.device, self.device_type = first.device, first.device.type
        self.device_ids = self.output_device = None
        self.is_multi_device_module = False
        self.static_graph = static_graph
        self.dim = dim
        self.module = module
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.mixed_precision = None
        self.skip_all_reduce_unused_params = skip_all_reduce_unused_params
        self.broadcast_bucket_size = 250 * _MIB
        self.bucket_bytes_cap_default = bucket_cap_mb is None
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * _MIB)
        self.logger = None
        self._comm_hooks: list = []
        if init_sync:
            self._check_others()
            self._take_from(0, [*self._module_parameters, *module.buffers()])
        self._watch()

    def _synchronised(self, module):
        """The parameters whose gradients are averaged."""
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        return [
            p
            for name, p in module.named_parameters()
            if p.requires_grad and name not in self.parameters_to_ignore
        ]

    def _check_parameters(self, module):
        if not self._module_parameters:
            raise advised(
                RuntimeError(
                    "DistributedDataParallel is not needed when a module doesn't have any "
                    "parameter that requires a gradient."
                ),
                "Use the module itself.",
            )
        if any(isinstance(p, UninitializedParameter) for p in module.parameters()):
            raise runtime_error(
                "Modules with uninitialized parameters can't be used with "
                "`DistributedDataParallel`. Run a dummy forward pass to correctly initialize the "
                "modules",
                "Call the module once before.",
            )

    def _check_devices(self, device_ids, output_device):
        if device_ids is not None and len(device_ids) > 1:
            raise value_error(
                "device_ids can only be None or contain a single element.", "Leave it away."
            )
        devices = {p.device for p in self._module_parameters}
        if (device_ids or output_device) and any(d.type == "cpu" for d in devices):
            shown = "{" + ", ".join(sorted(repr(d) for d in devices)) + "}"
            raise value_error(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{device_ids}, output_device {output_device}, and module parameters {shown}.",
                "A model on the CPU takes neither.",
            )

    def _watch(self):
        self.reducer = Reducer(
            self._module_parameters,
            self.process_group,
            self.bucket_bytes_cap,
            self.find_unused_parameters,
            self.gradient_as_bucket_view,
        )

    def _take_from(self, source, tensors):
        """Let tensors have the numbers of a rank of the group."""
        if self.process_group.size() > 1:
            works = [
                broadcast(x.data, group=self.process_group, async_op=True, group_src=source)
                for x in tensors
            ]
            for work in works:
                work.wait()

    def _check_others(self):
        """Raise unless every rank has as many parameters, of the same shapes."""
        if self.process_group.size() == 1:
            return
        shapes: list = [None] * self.process_group.size()
        mine = [tuple(p.shape) for p in self._module_parameters]
        all_gather_object(shapes, mine, group=self.process_group)
        rank = self.process_group.rank()
        for other, theirs in enumerate(shapes):
            if len(theirs) != len(mine):
                raise runtime_error(
                    f"DDP expects same model across all ranks, but Rank {rank} has {len(mine)} "
                    f"params, while rank {other} has inconsistent {len(theirs)} params.",
                    "Build the same model on every rank.",
                )
            for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
                if a != b:
                    raise runtime_error(
                        f"[{rank}]: params[{i}] in this process with sizes {list(a)} appears not "
                        f"to match sizes of the same param in process {other}.",
                        "Build the same model on every rank.",
                    )

    # --- a step -----------------------------------------------------------------------------------

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward pass takes rank 0's buffers."""
        return self.require_forward_param_sync and self.broadcast_buffers

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's; the gradients of what comes out of it are averaged."""
        records = is_grad_enabled() and self.require_backward_grad_sync
        counting = Join.notify_join_context(self)
        self.reducer.n_ranks = self.process_group.size()
        if counting is not None:
            self._begin_joined_step(counting, records)
        if records:
            self.reducer.prepare_for_forward()
        if self.will_sync_module_buffers():
            source = 0 if counting is None else joining.common_rank(self, True)
            self._take_from(source, self.module.buffers())
        output = self.module(*inputs, **kwargs)
        if records:
            looks = self.find_unused_parameters or self.static_graph
            self.require_forward_param_sync = True
            self.reducer.prepare_for_backward(_find_tensors(output) if looks else None)
        else:
            self.require_forward_param_sync = False
        return output

    def _begin_joined_step(self, counting, records):
        """Say whether gradients are reduced, and learn of how many ranks they are."""
        joining.anyone_reduces(self, records)
        if not self._divides_by_all:
            self.reducer.n_ranks = int(counting.result()[0])

    @contextmanager
    def no_sync(self):
        """A block in which gradients are added up and not averaged; the next step after it does."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    # --- hooks ------------------------------------------------------------------------------------

    def register_comm_hook(self, state: object, hook: Callable) -> None:
        """Have `hook(state, bucket)` say, as a future, what becomes of each bucket of gradients.

        Raises:
            TypeError: The hook is no function, or needs NCCL.
            RuntimeError: There is one already.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if getattr(hook, "__name__", "") in _BF16_HOOKS:
            raise advised(
                TypeError(
                    "BF16 all reduce communication hook required CUDA 11+ and NCCL 2.10+ or XPU "
                    "and XCCL"
                ),
                "Take fp16_compress_hook.",
            )
        self.reducer.register_hook(state, hook)
        self._comm_hooks.append((hook, state))

    def _register_builtin_comm_hook(self, comm_hook_type: BuiltinCommHookType) -> None:
        """The same with one of two hooks by name."""
        hooks = {
            BuiltinCommHookType.ALLREDUCE: default_hooks.allreduce_hook,
            BuiltinCommHookType.FP16_COMPRESS: default_hooks.fp16_compress_hook,
        }
        self.register_comm_hook(self.process_group, hooks[comm_hook_type])

    # --- joining ----------------------------------------------------------------------------------

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """A block in which ranks may have different numbers of inputs."""
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a rank without inputs does."""
        return joining.ModelJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> Any:
        """The device of the model."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The processes that have the model."""
        return self.process_group

    # --- the rest ---------------------------------------------------------------------------------

    def _get_ddp_logging_data(self) -> dict:
        """What PyTorch's log has of a model."""
        return {
            "world_size": self.process_group.size(),
            "rank": self.process_group.rank(),
            "module_name": type(self.module).__name__,
            "backend_name": self.process_group.name(),
            "find_unused_parameters": self.find_unused_parameters,
            "broadcast_buffers": self.broadcast_buffers,
            "bucket_cap_bytes": self.bucket_bytes_cap,
            "num_parameter_tensors": len(self._module_parameters),
        }

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Any, names: Sequence[str]) -> None:
        """Leave parameters and buffers alone that have these names."""
        module._ddp_params_and_buffers_to_ignore = names

    def _set_static_graph(self) -> None:
        """Say that the same parameters get gradients in each pass."""
        self.static_graph = True

    def __getstate__(self) -> dict:
        if self.process_group is not _get_default_group():
            raise runtime_error(
                "DDP Pickling/Unpickling are only supported when using DDP with the default "
                "process group. That is, when you have called init_process_group and have not "
                "passed process_group argument to DDP constructor",
                "Pickle model.module.",
            )
        state = copy.copy(self.__dict__)
        for name in ("process_group", "reducer", "_module_parameters", "_comm_hooks"):
            del state[name]
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.process_group = _get_default_group()
        self._comm_hooks = []
        self._module_parameters = self._synchronised(self.module)
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._watch()
