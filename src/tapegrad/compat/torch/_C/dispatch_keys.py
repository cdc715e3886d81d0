"""Keys of PyTorch's dispatcher: names of what a call passes through on its way to a kernel."""

from enum import IntEnum
from typing import Any

from tapegrad.amp.autocast_mode import autocast
from tapegrad.autograd.mode import no_grad
from tapegrad.core import errors
from tapegrad.library.operator import BELOW_AUTOGRAD
from tapegrad.tensors.tensor import Tensor

__torch__ = "DispatchKey DispatchKeySet"


class DispatchKey(IntEnum):
    """A name, with the number that PyTorch 2.13 gives it.

    >>> torch._C.DispatchKey.CPU
    <DispatchKey.CPU: 49>
    """

    Undefined = 0
    Dense = 1
    Quantized = 5
    Sparse = 8
    SparseCsr = 9
    NestedTensor = 10
    BackendSelect = 11
    Python = 13
    FuncTorchDynamicLayerBackMode = 14
    Functionalize = 15
    Conjugate = 16
    Negative = 17
    ZeroTensor = 18
    ADInplaceOrView = 19
    AutogradOther = 20
    AutogradFunctionality = 21
    AutogradNestedTensor = 22
    AutocastCPU = 24
    AutocastXPU = 27
    AutocastIPU = 28
    AutocastHPU = 29
    AutocastMPS = 31
    AutocastCUDA = 32
    AutocastPrivateUse1 = 33
    FuncTorchBatched = 34
    FuncTorchVmapMode = 36
    FuncTorchGradWrapper = 39
    PythonTLSSnapshot = 41
    FuncTorchDynamicLayerFrontMode = 42
    PreDispatch = 45
    PythonDispatcher = 46
    StartOfDenseBackends = 48
    CPU = 49
    CUDA = 50
    HIP = 51
    XLA = 52
    MPS = 53
    IPU = 54
    XPU = 55
    HPU = 56
    VE = 57
    Lazy = 58
    MTIA = 59
    MAIA = 60
    PrivateUse1 = 61
    PrivateUse2 = 62
    PrivateUse3 = 63
    EndOfDenseBackends = 64
    Meta = 64
    StartOfQuantizedBackends = 65
    QuantizedCPU = 66
    QuantizedCUDA = 67
    QuantizedHIP = 68
    QuantizedXLA = 69
    QuantizedMPS = 70
    QuantizedIPU = 71
    QuantizedXPU = 72
    QuantizedHPU = 73
    QuantizedVE = 74
    QuantizedLazy = 75
    QuantizedMTIA = 76
    QuantizedMAIA = 77
    QuantizedPrivateUse1 = 78
    QuantizedPrivateUse2 = 79
    QuantizedPrivateUse3 = 80
    EndOfQuantizedBackends = 81
    QuantizedMeta = 81
    StartOfSparseBackends = 82
    SparseCPU = 83
    SparseCUDA = 84
    SparseHIP = 85
    SparseXLA = 86
    SparseMPS = 87
    SparseIPU = 88
    SparseXPU = 89
    SparseHPU = 90
    SparseVE = 91
    SparseLazy = 92
    SparseMTIA = 93
    SparseMAIA = 94
    SparsePrivateUse1 = 95
    SparsePrivateUse2 = 96
    SparsePrivateUse3 = 97
    EndOfSparseBackends = 98
    SparseMeta = 98
    StartOfSparseCsrBackends = 99
    SparseCsrCPU = 100
    SparseCsrCUDA = 101
    SparseCsrHIP = 102
    SparseCsrXLA = 103
    SparseCsrMPS = 104
    SparseCsrIPU = 105
    SparseCsrXPU = 106
    SparseCsrHPU = 107
    SparseCsrVE = 108
    SparseCsrLazy = 109
    SparseCsrMTIA = 110
    SparseCsrMAIA = 111
    SparseCsrPrivateUse1 = 112
    SparseCsrPrivateUse2 = 113
    SparseCsrPrivateUse3 = 114
    EndOfSparseCsrBackends = 115
    SparseCsrMeta = 115
    StartOfNestedTensorBackends = 116
    NestedTensorCPU = 117
    NestedTensorCUDA = 118
    NestedTensorHIP = 119
    NestedTensorXLA = 120
    NestedTensorMPS = 121
    NestedTensorIPU = 122
    NestedTensorXPU = 123
    NestedTensorHPU = 124
    NestedTensorVE = 125
    NestedTensorLazy = 126
    NestedTensorMTIA = 127
    NestedTensorMAIA = 128
    NestedTensorPrivateUse1 = 129
    NestedTensorPrivateUse2 = 130
    NestedTensorPrivateUse3 = 131
    EndOfNestedTensorBackends = 132
    NestedTensorMeta = 132
    StartOfAutogradFunctionalityBackends = 133
    AutogradCPU = 134
    AutogradCUDA = 135
    AutogradHIP = 136
    AutogradXLA = 137
    AutogradMPS = 138
    AutogradIPU = 139
    AutogradXPU = 140
    AutogradHPU = 141
    AutogradVE = 142
    AutogradLazy = 143
    AutogradMTIA = 144
    AutogradMAIA = 145
    AutogradPrivateUse1 = 146
    AutogradPrivateUse2 = 147
    AutogradPrivateUse3 = 148
    AutogradMeta = 149
    EndOfAutogradFunctionalityBackends = 149
    Autograd = 150
    CompositeImplicitAutograd = 151
    FuncTorchBatchedDecomposition = 152
    CompositeImplicitAutogradNestedTensor = 153
    CompositeExplicitAutograd = 154
    CompositeExplicitAutogradNonFunctional = 155


_AUTOCAST = {DispatchKey.AutocastCPU: "cpu", DispatchKey.AutocastCUDA: "cuda"}


class DispatchKeySet:
    """A set of keys.

    >>> from tapegrad.compat.torch._C import DispatchKey, DispatchKeySet
    >>> keys = DispatchKeySet(DispatchKey.CPU) | DispatchKeySet(DispatchKey.AutocastCPU)
    >>> keys, keys.has(DispatchKey.CPU)
    (DispatchKeySet(CPU, AutocastCPU), True)
    """

    def __init__(self, *keys: DispatchKey) -> None:
        self._keys = frozenset(keys)

    def has(self, key: DispatchKey) -> bool:
        """Whether a key is among them."""
        return key in self._keys

    def add(self, key: DispatchKey) -> "DispatchKeySet":
        """The set with one more key."""
        return DispatchKeySet(*self._keys, key)

    def remove(self, key: DispatchKey) -> "DispatchKeySet":
        """The set without a key."""
        return DispatchKeySet(*self._keys - {key})

    def __or__(self, other: "DispatchKeySet") -> "DispatchKeySet":
        return DispatchKeySet(*self._keys | other._keys)

    def __and__(self, other: "DispatchKeySet") -> "DispatchKeySet":
        return DispatchKeySet(*self._keys & other._keys)

    def __sub__(self, other: "DispatchKeySet") -> "DispatchKeySet":
        return DispatchKeySet(*self._keys - other._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __repr__(self) -> str:
        ordered = sorted(self._keys, key=_place)
        return f"DispatchKeySet({', '.join(key.name for key in ordered)})"


def _place(key: DispatchKey) -> int:
    """Where a set prints a key: that of a backend where its kind of work has its place."""
    if key.name.startswith("Autograd"):
        return DispatchKey.AutogradFunctionality
    return DispatchKey.Dense if key is DispatchKey.CPU else key


def _dispatch_keys(tensor: Tensor) -> DispatchKeySet:
    """The keys of a call with a tensor: those of the CPU, of autograd and of autocast."""
    if not isinstance(tensor, Tensor):
        raise errors.must_be("_dispatch_keys", "tensor", 1, "Tensor", tensor)
    keys = (DispatchKey.CPU, DispatchKey.AutocastCPU)
    if tensor.is_inference():
        return DispatchKeySet(*keys)
    return DispatchKeySet(*keys, DispatchKey.ADInplaceOrView, DispatchKey.AutogradCPU)


class _ExcludeDispatchKeyGuard:
    """A block without some keys: without autocast, if its keys are among them.

    Raises:
        NotImplementedError: for other keys; here calls pass no dispatcher that could skip them.
    """

    def __init__(self, keyset: DispatchKeySet) -> None:
        unknown = [key for key in keyset._keys if not key.name.startswith("Autocast")]
        if unknown:
            names = ", ".join(sorted(key.name for key in unknown))
            raise errors.not_implemented(
                f"_ExcludeDispatchKeyGuard cannot leave out {names}",
                "tapegrad has no dispatcher: the keys of autocast can be left out. To leave out "
                "autograd, use torch.no_grad().",
            )
        self._blocks = [
            autocast(kind, enabled=False) for key, kind in _AUTOCAST.items() if keyset.has(key)
        ]

    def __enter__(self) -> None:
        for block in self._blocks:
            block.__enter__()

    def __exit__(self, *error: Any) -> None:
        for block in reversed(self._blocks):
            block.__exit__(*error)


class _AutoDispatchBelowAutograd:
    """A block in which nothing is recorded, and operators of `torch.library` skip their formulas.

    A kernel for "Autograd" calls its own operator in it, and so comes to the kernel that computes.
    """

    def __init__(self) -> None:
        self._grad = no_grad()

    def __enter__(self) -> None:
        self._grad.__enter__()
        self._token = BELOW_AUTOGRAD.set(True)

    def __exit__(self, *error: Any) -> None:
        BELOW_AUTOGRAD.reset(self._token)
        self._grad.__exit__(*error)


DispatchKey.__module__ = DispatchKeySet.__module__ = "torch"
_AutoDispatchBelowAutograd.__module__ = _ExcludeDispatchKeyGuard.__module__ = "torch._C"
