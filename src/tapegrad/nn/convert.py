"""Converting a module: its parameters and buffers to another dtype or device."""

from typing import Any, Self

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import Callable, DeviceLike
from tapegrad.core.device import place
from tapegrad.core.dtype import bfloat16, dtype, float16, float32, float64
from tapegrad.core.errors import not_implemented, runtime_error, type_error, warn
from tapegrad.nn.parameter import Parameter, is_lazy
from tapegrad.operators.conversion.to_type import parse_to
from tapegrad.operators.creation.like import empty_like
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.swap import swap_tensors

CONVERSION = {"overwrite": False, "swap": False}
"""What `torch.__future__` sets: new parameters made, or swapped with those that there are."""


class Conversion:
    """What a `Module` does to change the dtype and device of everything it holds."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every parameter, its gradient and every buffer by `fn` of it."""
        if recurse:
            for module in self.children():  # type: ignore[attr-defined]
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            if is_lazy(parameter):
                parameter.convert(fn)
                continue
            grad = parameter._grad
            with no_grad():
                data = fn(parameter)
                slope = None if grad is None else fn(grad)
            if CONVERSION["swap"]:
                moved = Parameter(data, parameter.requires_grad)
                parameter._grad = None
                try:
                    swap_tensors(parameter, moved)
                    if grad is not None:
                        swap_tensors(grad, slope)
                except RuntimeError as error:
                    text = f"_apply(): Couldn't swap {type(self).__name__}.{name}"
                    raise runtime_error(text, str(error)) from error
                finally:
                    parameter._grad = grad
                continue
            other = data.is_meta is not parameter.is_meta  # a tensor on another device is another
            if other or CONVERSION["overwrite"]:
                moved = Parameter(data, parameter.requires_grad)
                moved._grad = slope
                self._parameters[name] = moved
                continue
            parameter.data = data
            if grad is not None:
                grad.data = slope
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                buffer.convert(fn)
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: object, **kwargs: object) -> Self:
        """Move to a device, a dtype, or those of a tensor; integers keep their dtype.

        `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(tensor)`, by keyword too; with
        `memory_format` tensors of 4 or 5 dimensions are laid out so. Returns this module, its
        parameters the same objects.

        >>> torch.nn.Linear(2, 1).to(torch.float64).weight.dtype
        torch.float64
        """
        device, wanted, copy, format = parse_to(args, kwargs)
        if copy or "copy" in kwargs:
            raise runtime_error(
                ".to() does not accept copy argument", "Use copy.deepcopy(module).to(...)."
            )
        if wanted is not None and not (wanted.is_floating_point or wanted.is_complex):
            raise type_error(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={wanted}",
                f"Convert a single tensor with tensor.to({wanted}).",
            )

        if wanted is not None and wanted.is_complex:
            warn(
                "Complex modules are a new feature under active development whose design may "
                "change, and some modules might not work as expected when using complex tensors as "
                "parameters or buffers. Please file an issue at https://github.com/pytorch/"
                "pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
                "expected."
            )

        def convert(tensor: Tensor) -> Tensor:
            floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
            kind = wanted if wanted is not None and floating else tensor.dtype
            arranged = {"memory_format": format} if format and tensor.dim() in (4, 5) else {}
            if device is None:
                return tensor.to(kind, **arranged)
            if tensor.is_meta and place(device) is None:
                raise not_implemented(
                    "Cannot copy out of meta tensor; no data! Please use "
                    "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                    "module from meta to a different device.",
                    "Its parameters have shapes and no elements.",
                )
            return tensor.to(device, kind, **arranged)

        return self._apply(convert)

    def type(self, dst_type: Any) -> Self:
        """Convert every parameter and buffer, integers too, to `dst_type`; returns this module.

        >>> torch.nn.Linear(2, 1).type(torch.float64).weight.dtype
        torch.float64
        """
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Convert floating-point parameters and buffers to float32; returns this module.

        >>> torch.nn.Linear(2, 1).double().float().weight.dtype
        torch.float32
        """
        return self._apply(lambda tensor: _floating(tensor, float32))

    def double(self) -> Self:
        """Convert floating-point parameters and buffers to float64; returns this module.

        >>> torch.nn.Linear(2, 1).double().bias.dtype
        torch.float64
        """
        return self._apply(lambda tensor: _floating(tensor, float64))

    def half(self) -> Self:
        """Convert floating-point parameters and buffers to float16; returns this module.

        >>> torch.nn.Linear(2, 1).half().weight.dtype
        torch.float16
        """
        return self._apply(lambda tensor: _floating(tensor, float16))

    def bfloat16(self) -> Self:
        """Convert floating-point parameters and buffers to bfloat16; returns this module.

        >>> torch.nn.Linear(2, 1).bfloat16().weight.dtype
        torch.bfloat16
        """
        return self._apply(lambda tensor: _floating(tensor, bfloat16))

    def cpu(self) -> Self:
        """Move to the CPU; returns this module.

        >>> torch.nn.Linear(2, 1).cpu().weight.device
        device(type='cpu')
        """
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: DeviceLike = None) -> Self:
        """Move to a GPU; returns this module.

        >>> torch.nn.Linear(2, 1).cuda()
        Traceback (most recent call last):
        AssertionError: Torch not compiled with CUDA enabled...
        """
        return self._apply(lambda tensor: tensor.cuda(device))

    def xpu(self, device: DeviceLike = None) -> Self:
        """Move to an Intel GPU, which PyTorch's builds for the CPU refuse."""
        raise AssertionError("Torch not compiled with XPU enabled")

    def ipu(self, device: DeviceLike = None) -> Self:
        """Move to an IPU, which PyTorch's builds for the CPU refuse."""
        raise RuntimeError("PyTorch is not linked with support for ipu devices")

    def share_memory(self) -> Self:
        """Move parameters and buffers to memory that processes forked from now on share.

        >>> torch.nn.Linear(2, 1).share_memory().weight.is_shared()
        True
        """
        tables: Any = [self._parameters, self._buffers]
        for tensor in [x for table in tables for x in table.values() if is_lazy(x)]:
            tensor.share_memory_()  # raises
        return self._apply(lambda tensor: tensor.share_memory_())

    def to_empty(self, *, device: DeviceLike, recurse: bool = True) -> Self:
        """Move to `device` without the elements, which are then undefined; returns this module.

        >>> torch.nn.Linear(2, 1).to_empty(device="cpu").weight.shape
        torch.Size([1, 2])
        """
        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse)

    def _replicate_for_data_parallel(self) -> Self:
        """A copy without parameters, whose tables of buffers and modules are its own."""
        replica = self.__new__(type(self))
        tables = {
            "_parameters": {},
            "_buffers": self._buffers.copy(),
            "_modules": self._modules.copy(),
        }
        replica.__dict__.update({**self.__dict__, **tables, "_is_replica": True})
        return replica


def _floating(tensor: Tensor, wanted: dtype) -> Tensor:
    return tensor.to(wanted) if tensor.dtype.is_floating_point else tensor
