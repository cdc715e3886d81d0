"""What is known of functions and attributes beyond their annotations."""

TENSOR = "Tensor"
TENSORS = "tuple[Tensor, ...]"

RESULTS = {
    "allow_mutation_on_saved_tensors": "Any",
    "kl_divergence": TENSOR,
    "_assert": "None",
    "_disable_dynamo": "Any",
    "as_subclass": "Any",
    "block_diag": TENSOR,
    "broadcast_tensors": TENSORS,
    "chain_matmul": TENSOR,
    "from_torch": "Any",
    "get_rng_state": TENSOR,
    "load": "Any",
    "map2_": TENSOR,
    "map_": TENSOR,
    "multi_head_attention_forward": "tuple[Tensor, Tensor | None]",
    "new": TENSOR,
    "register_hook": "RemovableHandle",
    "register_post_accumulate_grad_hook": "RemovableHandle",
    "storage": "TypedStorage",
    "storage_type": "type[Any]",
    "sym_ite": "Any",
    "sym_max": "Any",
    "sym_min": "Any",
    "sym_sum": "Any",
    "to_dlpack": "Any",
    "to_torch": "Any",
    "typename": "_str",
    # tuples of tensors
    "lu": "tuple[Tensor, ...]",
    "dsplit": TENSORS,
    "hsplit": TENSORS,
    "meshgrid": TENSORS,
    "split": TENSORS,
    "vsplit": TENSORS,
    "svd_lowrank": "tuple[Tensor, Tensor, Tensor]",
    "pca_lowrank": "tuple[Tensor, Tensor, Tensor]",
    "unravel_index": TENSORS,
}
"""What functions return whose annotation says `Any` or `tuple`."""

NO_TENSOR = frozenset(
    "_assert compile load from_torch to_torch typename sym_ite sym_max sym_min sym_sum".split()
)

_COMPILE = (
    "*, fullgraph: _bool = False, dynamic: _bool | None = None, backend: _str | Callable[..., Any] "
    "| None = None, mode: _str | None = None, options: dict[_str, Any] | None = None, name: _str | "
    "None = None, disable: _bool = False, recompile_limit: _int | None = None, isolate_recompiles: "
    "_bool = False, shapes_spec: Any = None, example_inputs: Any = None"
)

DECLARED = {
    "atleast_1d": [
        "@overload\ndef atleast_1d(tensor: Tensor, /) -> Tensor: ...",
        "@overload\ndef atleast_1d(*tensors: Tensor) -> tuple[Tensor, ...]: ...",
        "@overload\ndef atleast_1d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...",
    ],
    "compile": [
        f"@overload\ndef compile(model: _M, {_COMPILE}) -> _M: ...",
        f"@overload\ndef compile(model: Callable[_P, _R], {_COMPILE}) -> _Compiled[_P, _R]: ...",
        f"@overload\ndef compile(model: None = None, {_COMPILE}) "
        "-> Callable[[Callable[_P, _R]], _Compiled[_P, _R]]: ...",
    ],
    "broadcast_tensors": [
        "def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ..."
    ],
    "backward": [
        "def backward(tensors: _Places, grad_tensors: _Cotangents = None, retain_graph: _bool | "
        "None = None, create_graph: _bool = False, grad_variables: _Cotangents = None, inputs: "
        "_Places | None = None) -> None: ..."
    ],
    "grad": [
        "def grad(outputs: _Places, inputs: _Places, grad_outputs: _Cotangents = None, "
        "retain_graph: _bool | None = None, create_graph: _bool = False, only_inputs: _bool = "
        "True, allow_unused: _bool | None = None, is_grads_batched: _bool = False, "
        "materialize_grads: _bool = False) -> tuple[Tensor, ...]: ..."
    ],
    "einsum": ["def einsum(equation: _str, *operands: Tensor | Sequence[Tensor]) -> Tensor: ..."],
    "is_tensor": ["def is_tensor(obj: object, /) -> TypeIs[Tensor]: ..."],
    "meshgrid": [
        "def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: _str | None = None) "
        "-> tuple[Tensor, ...]: ..."
    ],
    "vmap": [
        "def vmap(func: Callable[_P, _R], in_dims: Any = 0, out_dims: Any = 0, randomness: _str "
        "= 'error', *, chunk_size: _int | None = None) -> Callable[_P, _R]: ..."
    ],
}
for _name in ("atleast_2d", "atleast_3d"):
    DECLARED[_name] = [each.replace("atleast_1d", _name) for each in DECLARED["atleast_1d"]]
for _name in ("unique", "unique_consecutive"):
    _sorted = "sorted: _bool = True, " if _name == "unique" else ""
    DECLARED[_name] = [
        f"@overload\ndef {_name}(input: Tensor, {_sorted}return_inverse: Literal[False] = False, "
        "return_counts: Literal[False] = False, dim: _int | None = None) -> Tensor: ...",
        f"@overload\ndef {_name}(input: Tensor, {_sorted}return_inverse: _bool = False, "
        "return_counts: _bool = False, dim: _int | None = None) -> Any: ...",
    ]
"""Functions whose types no signature has."""

ATTRIBUTES = {
    "H": TENSOR,
    "T": TENSOR,
    "data": TENSOR,
    "device": "_device",
    "dtype": "_dtype",
    "grad": "Tensor | None",
    "grad_dtype": "_dtype | None",
    "grad_fn": "Any",
    "imag": TENSOR,
    "itemsize": "_int",
    "layout": "_layout",
    "mH": TENSOR,
    "mT": TENSOR,
    "nbytes": "_int",
    "ndim": "_int",
    "output_nr": "_int",
    "real": TENSOR,
    "requires_grad": "_bool",
    "retains_grad": "_bool",
    "shape": "Size",
}
"""Attributes of tensors; those called `is_...` are truth values."""

SETTABLE = frozenset("data grad grad_dtype imag real requires_grad".split())

PRIVATE = {
    "_array": "Any",
    "_backward_hooks": "dict[_int, Any] | None",
    "_base": "Tensor | None",
    "_version": "_int",
}

BINARY = (
    "add sub mul div truediv floordiv mod pow matmul and or xor lshift rshift radd rsub rmul rdiv "
    "rtruediv rfloordiv rmod rpow rmatmul rand ror rxor rlshift rrshift lt le gt ge "
    "iadd isub imul idiv itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split()
)

SPECIAL = {
    "__abs__": "(self) -> Tensor",
    "__array__": "(self, dtype: Any = None, copy: _bool | None = None) -> np.ndarray",
    "__bool__": "(self) -> _bool",
    "__complex__": "(self) -> _complex",
    "__contains__": "(self, element: Any, /) -> _bool",
    "__deepcopy__": "(self, memo: Any) -> Self",
    "__dlpack__": "(self, *args: Any, **kwargs: Any) -> Any",
    "__dlpack_device__": "(self) -> tuple[_int, _int]",
    "__float__": "(self) -> _float",
    "__format__": "(self, spec: _str, /) -> _str",
    "__getitem__": "(self, index: _Index, /) -> Tensor",
    "__hash__": "(self) -> _int",
    "__index__": "(self) -> _int",
    "__int__": "(self) -> _int",
    "__invert__": "(self) -> Tensor",
    "__iter__": "(self) -> Iterator[Tensor]",
    "__len__": "(self) -> _int",
    "__neg__": "(self) -> Tensor",
    "__pos__": "(self) -> Tensor",
    "__reduce_ex__": "(self, protocol: Any) -> Any",
    "__repr__": "(self) -> _str",
    "__reversed__": "(self) -> Tensor",
    "__setitem__": "(self, index: _Index, value: Scalar | np.ndarray, /) -> None",
}
"""Methods that Python calls."""

METHODS = {
    "_conj": ["def _conj(self) -> Tensor: ..."],
    "_indices": ["def _indices(self) -> Tensor: ..."],
    "_is_view": ["def _is_view(self) -> _bool: ..."],
    "_make_subclass": [
        "@staticmethod",
        "def _make_subclass(cls: type[_T], data: Tensor, require_grad: _bool = False) -> _T: ...",
    ],
    "_make_wrapper_subclass": [
        "@staticmethod",
        "def _make_wrapper_subclass(cls: type[_T], size: Sequence[_int], *args: Any, "
        "**options: Any) -> _T: ...",
    ],
    "_neg_view": ["def _neg_view(self) -> Tensor: ..."],
    "_nnz": ["def _nnz(self) -> _int: ..."],
    "_values": ["def _values(self) -> Tensor: ..."],
    "as_subclass": ["def as_subclass(self, cls: type[_T]) -> _T: ..."],
    "cuda": [
        "def cuda(self, device: DeviceLike = None, non_blocking: _bool = False, *, "
        "memory_format: MemoryFormat = None) -> Tensor: ..."
    ],
    "is_contiguous": [
        "def is_contiguous(self, *, memory_format: MemoryFormat = None) -> _bool: ..."
    ],
    "new": ["def new(self, *args: Any, **kwargs: Any) -> Tensor: ..."],
    "register_hook": [
        "def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle: ..."
    ],
    "register_post_accumulate_grad_hook": [
        "def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) "
        "-> RemovableHandle: ..."
    ],
    "requires_grad_": ["def requires_grad_(self, requires_grad: _bool = True) -> Self: ..."],
    "retain_grad": ["def retain_grad(self) -> None: ..."],
    "size": [
        "@overload",
        "def size(self, dim: None = None) -> Size: ...",
        "@overload",
        "def size(self, dim: _int) -> _int: ...",
    ],
    "split": [
        "def split(self, split_size: _int | Sequence[_int], dim: _int = 0) "
        "-> tuple[Tensor, ...]: ..."
    ],
    "stride": [
        "@overload",
        "def stride(self, dim: None = None) -> tuple[_int, ...]: ...",
        "@overload",
        "def stride(self, dim: _int) -> _int: ...",
    ],
    "to": [
        "@overload",
        "def to(self, dtype: _dtype, non_blocking: _bool = False, copy: _bool = False, *, "
        "memory_format: MemoryFormat = None) -> Tensor: ...",
        "@overload",
        "def to(self, device: DeviceLike = None, dtype: DTypeLike = None, non_blocking: _bool = "
        "False, copy: _bool = False, *, memory_format: MemoryFormat = None) -> Tensor: ...",
        "@overload",
        "def to(self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *, "
        "memory_format: MemoryFormat = None) -> Tensor: ...",
    ],
    "tolist": ["def tolist(self) -> Any: ..."],
    "type": [
        "@overload",
        "def type(self, dtype: None = None, non_blocking: _bool = False) -> _str: ...",
        "@overload",
        "def type(self, dtype: _dtype | _str | type[Any], non_blocking: _bool = False) "
        "-> Tensor: ...",
    ],
    "unflatten": ["def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> Tensor: ..."],
    "unique": [
        "@overload",
        "def unique(self, sorted: _bool = True, return_inverse: Literal[False] = False, "
        "return_counts: Literal[False] = False, dim: _int | None = None) -> Tensor: ...",
        "@overload",
        "def unique(self, sorted: _bool = True, return_inverse: _bool = False, "
        "return_counts: _bool = False, dim: _int | None = None) -> Any: ...",
    ],
    "unique_consecutive": [
        "@overload",
        "def unique_consecutive(self, return_inverse: Literal[False] = False, "
        "return_counts: Literal[False] = False, dim: _int | None = None) -> Tensor: ...",
        "@overload",
        "def unique_consecutive(self, return_inverse: _bool = False, "
        "return_counts: _bool = False, dim: _int | None = None) -> Any: ...",
    ],
}
"""Methods whose types no signature has."""

VARIABLES = {
    "_F": '_F = TypeVar("_F", bound=Callable[..., Any])',
    "_T": '_T = TypeVar("_T")',
    "_P": '_P = ParamSpec("_P")',
    "_R": '_R = TypeVar("_R")',
    "_M": '_M = TypeVar("_M", bound=Module)',
    "_Compiled": """\
class _Compiled(Compiled, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...""",
    "_Index": "_Index: TypeAlias = "
    '"Tensor | _int | slice | EllipsisType | np.ndarray | Sequence[Any] | None"',
    "_Places": '_Places: TypeAlias = "Tensor | GradientEdge | Sequence[Tensor | GradientEdge]"',
    "_Cotangents": '_Cotangents: TypeAlias = "Tensor | Sequence[Tensor | None] | None"',
}
"""Type variables and aliases that declarations use."""
