"""Functions that call several operators, as events around them: `aten::linear`, `aten::matmul`.

Such functions are plain Python and know nothing of profiles. While a profiler listens, each of them
has other code: it notes when the function begins and ends, and runs the code that was there. So
they cost nothing while nobody listens, whoever holds them and by whatever name.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from threading import Lock, get_ident
from time import perf_counter as clock
from types import FunctionType

from tapegrad.core.annotations import Any, Callable, ModuleLike
from tapegrad.profiler.recorder import RECORDER, Recorder, shapes_of
from tapegrad.tensors.tensor import COPIES

# Files of tapegrad.operators, and what they define. A function is called as in PyTorch's profile;
# where its own name is another one, that follows after a colon.
_FUNCTIONS = {
    "conversion.item_numpy_tolist": "item is_nonzero:to_bool",
    "conversion.to_type": "to type_as to:cast_as to:cpu to:type_",
    "creation.like": "empty_like full_like ones_like zeros_like",
    "fft.fft": (
        "fft_fft:fft fft_ifft:ifft fft_rfft:rfft fft_irfft:irfft fft_hfft:hfft fft_ihfft:ihfft"
    ),
    "fft.fftn": (
        "fft_fft2:fft2 fft_ifft2:ifft2 fft_rfft2:rfft2 fft_irfft2:irfft2 fft_fftn:fftn "
        "fft_ifftn:ifftn fft_rfftn:rfftn fft_irfftn:irfftn"
    ),
    "fft.stft": "stft",
    "indexing.masked_select_nonzero": "nonzero",
    "linalg.cholesky": "linalg_cholesky",
    "linalg.det_slogdet": "det linalg_det slogdet linalg_slogdet logdet",
    "linalg.eig_eigh": "linalg_eig:eig linalg_eigvalsh:eigvalsh",
    "linalg.einsum_tensordot_kron": "einsum tensordot kron trace",
    "linalg.inner_outer": "outer inner",
    "linalg.inv": "linalg_inv:inv",
    "linalg.linear": "linear",
    "linalg.lstsq": "linalg_lstsq:lstsq",
    "linalg.matmul": "matmul",
    "linalg.matrix_norm": "linalg_norm:norm nuclear_norm",
    "linalg.multi_dot_chain_matmul": "linalg_multi_dot:multi_dot chain_matmul",
    "linalg.solve": "linalg_solve:solve",
    "nn.adaptive_pool": "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d",
    "nn.attention": "scaled_dot_product_attention",
    "nn.avg_pool": "avg_pool1d",
    "nn.batch_group_norm": "instance_norm",
    "nn.bilinear": "bilinear",
    "nn.conv": "conv1d conv2d conv3d",
    "nn.conv_transpose": "conv_transpose1d conv_transpose2d conv_transpose3d",
    "nn.cosine_similarity_distance": "cosine_similarity pairwise_distance",
    "nn.dropout": (
        "dropout dropout_ feature_dropout feature_dropout_ alpha_dropout alpha_dropout_ "
        "feature_alpha_dropout feature_alpha_dropout_"
    ),
    "nn.embedding": "one_hot",
    "nn.loss.kl_div": "kl_div",
    "nn.loss.nll_cross_entropy": "cross_entropy_loss:cross_entropy",
    "nn.max_pool": "max_pool1d max_pool2d max_pool3d",
    "nn.rnn.cell": "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
    "nn.rnn.rnn_lstm_gru": "lstm gru rnn_tanh rnn_relu",
    "pointwise.comparison": "allclose isclose",
    "pointwise.pow_sqrt_square": "square",
    "random.rand_like": "rand_like randint_like randn_like",
    "reduction.cov_corrcoef": "cov corrcoef",
    "reduction.cumulative": "diff",
    "reduction.gradient_trapezoid": "trapezoid cumulative_trapezoid",
    "reduction.sort_topk": "argsort msort",
    "reduction.unique": "_unique2:unique",
    "shape.cat_stack": "hstack vstack dstack column_stack",
    "shape.clone": "contiguous",
    "shape.expand_broadcast": "expand_as broadcast_tensors broadcast_to",
    "shape.flip_roll_rot90": "fliplr flipud",
    "shape.meshgrid_combinations_block_diag": "meshgrid cartesian_prod combinations",
    "shape.permute_transpose_movedim_swapaxes": "movedim swapaxes",
    "shape.repeat_tile": "tile",
    "shape.reshape_flatten_atleast": (
        "flatten ravel reshape reshape:reshape_method unflatten view_as"
    ),
    "shape.slice_select_narrow": "narrow",
    "shape.split_chunk_unbind": "chunk",
    "shape.tensor_split": "tensor_split hsplit vsplit dsplit",
    "shape.tril_triu_diag": "diag",
}
_OTHERS = {
    "tapegrad.tensors.methods.shape": "numpy_T:ShapeMethods.T mT:ShapeMethods.mT",
    "tapegrad.nn.functional.activation": "relu6 selu",
    "tapegrad.nn.functional.loss": "poisson_nll_loss l1_loss cosine_embedding_loss "
    "hinge_embedding_loss margin_ranking_loss triplet_margin_loss ctc_loss",
    "tapegrad.operators.nn.pad": "pad",
    "tapegrad.operators.pointwise.relu_threshold_shrink": "prelu",
    "tapegrad.tensors.tensor": "detach:TensorCore.detach",
}

_listeners = 0
_lock = Lock()
_around: list[Exchange] = []


NOTES_CALLS = True  # who looks for the caller of a public function passes over this file's frames
_CALL = "what is called in its place"  # in the code below, until it is given to a function


def _noted(*args: object, **kwargs: object) -> Any:
    call: Any = "what is called in its place"
    return call(args, kwargs)


class Exchange:
    """A function, its own code, and the code that it has while somebody listens."""

    __slots__ = ("flops", "function", "noting", "original", "own", "title")

    def __init__(self, title: str, function: Callable):
        from tapegrad.profiler.names import COUNTED

        self.title = "aten::" + title
        self.flops: Callable | None = COUNTED.get(self.title)
        self.function = function
        self.own = own = function.__code__
        if "__signature__" not in vars(function):
            function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        noting = _noted.__code__
        self.noting = noting.replace(
            co_freevars=own.co_freevars,  # a code may be exchanged for one that has as many
            co_name=own.co_name,
            co_qualname=own.co_qualname,
            co_consts=tuple(self.call if each == _CALL else each for each in noting.co_consts),
        )
        self.original = FunctionType(
            own, function.__globals__, own.co_name, function.__defaults__, function.__closure__
        )
        self.original.__kwdefaults__ = function.__kwdefaults__

    def call(self, args: tuple, kwargs: dict) -> Any:
        """Call the function, and note it where somebody listens."""
        recorder = RECORDER.get()
        if recorder is None or not recorder.on:
            return self.original(*args, **kwargs)
        if not recorder.brief:
            return self._noted(recorder, args, kwargs)
        start = clock()
        try:
            result = self.original(*args, **kwargs)
        except BaseException:
            recorder.operators.extend((self, start, clock(), -1, get_ident()))
            raise
        if not self._is_silent(args, result):
            recorder.operators.extend((self, start, clock(), -1, get_ident()))
        return result

    def _noted(self, recorder: Recorder, args: tuple, kwargs: dict) -> Any:
        inputs = shapes_of((*args, *kwargs.values())) if recorder.shapes else None
        record = recorder.push(self.title, inputs=inputs)
        try:
            result = self.original(*args, **kwargs)
        finally:
            recorder.pop(record)
        if self._is_silent(args, result):
            recorder.forget(record)
        if recorder.values:
            from tapegrad.profiler.execution_trace import described_call

            record.values = described_call(args, kwargs, result)
        if recorder.flops and self.flops is not None:
            record.flops = self.flops(*args, **kwargs)
        return result

    def _is_silent(self, args: tuple, result: object) -> bool:
        """Whether nothing was done and PyTorch notes nothing."""
        return self.title == "aten::contiguous" and any(result is x for x in args)


def listen() -> None:
    """A profiler begins to listen."""
    global _listeners
    with _lock:
        _listeners += 1
        if _listeners == 1:
            if not _around:
                _find()
            for each in _around:
                each.function.__code__ = each.noting


def leave() -> None:
    """A profiler listens no more."""
    global _listeners
    with _lock:
        _listeners -= 1
        if _listeners == 0:
            for each in _around:
                each.function.__code__ = each.own


def _find() -> None:
    files = {"tapegrad.operators." + name: words for name, words in _FUNCTIONS.items()} | _OTHERS
    for file, words in files.items():
        module = import_module(file)
        for word in words.split():
            title, _, name = word.partition(":")
            function = _function(module, name or title)
            _around.append(Exchange(title, function))
            if function in COPIES:
                _around.append(Exchange(title, COPIES[function]))


def _function(module: ModuleLike, path: str) -> Any:
    """What a file defines by a name, or by the name of a class and that of its method."""
    found = module
    for name in path.split("."):
        found = vars(found)[name]
    function: Any = found.fget if isinstance(found, property) else found
    while hasattr(function, "method") or (  # the function and the method share what is behind
        len(function.__code__.co_freevars) not in (0, 2) and "__signature__" not in vars(function)
    ):
        function = function.__wrapped__
    return function
