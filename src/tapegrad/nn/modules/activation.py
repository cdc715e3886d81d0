"""Activations: element by element, along an axis, and attention of many heads."""

from tapegrad.core.annotations import DeviceLike, DTypeLike, ModuleLike
from tapegrad.core.errors import assertion_error, deprecated, value_error
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.functional.multi_head import additive
from tapegrad.nn.modules.linear import NonDynamicallyQuantizableLinear
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import ClassOptions
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.tensors.tensor import Tensor


class _Plain(ClassOptions, Module):
    """A layer without options: `class Tanh(_Plain, function=F.tanh)`."""

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input)


class _InPlace(ClassOptions, Module):
    """A layer whose one choice is whether to overwrite its input."""

    __constants__ = ("inplace",)

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace, function=F.relu):
    """The positive part: `max(x, 0)`.

    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """


class SELU(_InPlace, function=F.selu):
    """Scaled exponential: `1.0507 * (x if x > 0 else 1.6733 * (exp(x) - 1))`.

    Source: Klambauer et al., Self-normalizing neural networks, 2017.

    >>> torch.nn.SELU()(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """


class SiLU(_InPlace, function=F.silu):
    """`x * sigmoid(x)`, also called swish.

    Source: Hendrycks and Gimpel, Gaussian error linear units, 2016.

    >>> torch.nn.SiLU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """


class Mish(_InPlace, function=F.mish):
    """`x * tanh(softplus(x))`.

    Source: Misra, Mish, 2019.

    >>> torch.nn.Mish()(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """


class Hardswish(_InPlace, function=F.hardswish):
    """`x * clamp(x + 3, 0, 6) / 6`, piecewise and cheap.

    Source: Howard et al., Searching for MobileNetV3, 2019.

    >>> torch.nn.Hardswish()(torch.tensor([-1.0, 2.0]))
    tensor([-0.3333,  1.6667])
    """

    def extra_repr(self) -> str:
        return ""


class GELU(Module):
    """`x * Phi(x)` with the normal distribution function `Phi`, or its `"tanh"` approximation.

    Source: Hendrycks and Gimpel, Gaussian error linear units, 2016.

    >>> torch.nn.GELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    __constants__ = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """`x if x > 0 else negative_slope * x`.

    >>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    __constants__ = ("inplace", "negative_slope")

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{_inplace(self)}"


class PReLU(Module):
    """A leaky rectifier that learns its slope, one for all or one for each channel (axis 1).

    Shape: `x: (N, num_parameters, ...)` if there are several; `weight: (num_parameters,)`.

    Source: He et al., Delving deep into rectifiers, 2015.

    >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).detach()
    tensor([-0.2500,  2.0000])
    """

    __constants__ = ("num_parameters",)

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Every slope is `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """A leaky rectifier with random slopes in training, their mean in evaluation.

    Source: Xu et al., Empirical evaluation of rectified activations, 2015.

    >>> torch.nn.RReLU(0.1, 0.3).eval()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2000,  2.0000])
    """

    __constants__ = ("lower", "upper", "inplace")

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}{_inplace(self)}"


class ELU(Module):
    """`x if x > 0 else alpha * (exp(x) - 1)`.

    Source: Clevert et al., Fast and accurate deep network learning by ELUs, 2015.

    >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    __constants__ = ("alpha", "inplace")

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_inplace(self)}"


class CELU(Module):
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`: ELU, smooth for every alpha.

    Source: Barron, Continuously differentiable exponential linear units, 2017.

    >>> torch.nn.CELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    __constants__ = ("alpha", "inplace")

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_inplace(self)}"


class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above `threshold`.

    >>> torch.nn.Softplus()(torch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """

    __constants__ = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


def _inplace(module: ModuleLike) -> str:
    return ", inplace=True" if module.inplace else ""


class Sigmoid(_Plain, function=F.sigmoid):
    """`1 / (1 + exp(-x))`, between 0 and 1.

    >>> torch.nn.Sigmoid()(torch.tensor([-1.0, 0.0]))
    tensor([0.2689, 0.5000])
    """


class Tanh(_Plain, function=F.tanh):
    """Hyperbolic tangent, between -1 and 1.

    >>> torch.nn.Tanh()(torch.tensor([-1.0, 0.0]))
    tensor([-0.7616,  0.0000])
    """


class LogSigmoid(_Plain, function=F.logsigmoid):
    """`log(sigmoid(x))`, without overflow.

    >>> torch.nn.LogSigmoid()(torch.tensor([-1.0, 0.0]))
    tensor([-1.3133, -0.6931])
    """


class Softsign(_Plain, function=F.softsign):
    """`x / (1 + |x|)`, between -1 and 1.

    >>> torch.nn.Softsign()(torch.tensor([-1.0, 0.0]))
    tensor([-0.5000,  0.0000])
    """


class Tanhshrink(_Plain, function=F.tanhshrink):
    """`x - tanh(x)`.

    >>> torch.nn.Tanhshrink()(torch.tensor([-1.0, 0.0]))
    tensor([-0.2384,  0.0000])
    """


class Hardsigmoid(_InPlace, function=F.hardsigmoid):
    """`clamp(x / 6 + 1 / 2, 0, 1)`, piecewise and cheap.

    >>> torch.nn.Hardsigmoid()(torch.tensor([-1.0, 4.0]))
    tensor([0.3333, 1.0000])
    """

    def extra_repr(self) -> str:
        return ""


class Hardtanh(Module):
    """`clamp(x, min_val, max_val)`.

    >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    __constants__ = ("min_val", "max_val", "inplace")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            _renamed("min_value", "min_val")
            min_val = min_value
        if max_value is not None:
            _renamed("max_value", "max_val")
            max_val = max_value
        if max_val <= min_val:
            raise assertion_error(
                f"max_val ({max_val}) must be greater than min_val ({min_val})", "Swap the two."
            )
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}{_inplace(self)}"


class ReLU6(Hardtanh):
    """`min(max(x, 0), 6)`.

    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 9.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    extra_repr = _InPlace.extra_repr


class Threshold(Module):
    """`x` where it is above `threshold`, `value` elsewhere.

    >>> torch.nn.Threshold(0.1, 20.0)(torch.tensor([0.0, 0.5]))
    tensor([20.0000,  0.5000])
    """

    __constants__ = ("threshold", "value", "inplace")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}{_inplace(self)}"


class _Shrink(ClassOptions, Module):
    __constants__ = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink, function=F.hardshrink):
    """`x` where `|x| > lambd`, 0 elsewhere.

    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.2]))
    tensor([-1.,  0.])
    """


class Softshrink(_Shrink, function=F.softshrink):
    """`x` moved by `lambd` towards 0, and 0 where `|x| <= lambd`.

    >>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.2]))
    tensor([-0.5000,  0.0000])
    """


def _renamed(old: str, new: str) -> None:
    deprecated(f"keyword argument `{old}` is deprecated and renamed to `{new}`\nWrite {new}=...", 3)


class _Along(ClassOptions, Module):
    """A layer that works along the axis `dim`."""

    __constants__ = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_Along, function=F.softmax):
    """`exp(x) / sum(exp(x))` along `dim`: positive, and 1 in total.

    >>> torch.nn.Softmax(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """


class LogSoftmax(_Along, function=F.log_softmax):
    """`log(softmax(x))` along `dim`, without overflow.

    >>> torch.nn.LogSoftmax(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([-0.6931, -0.6931])
    """


class Softmin(_Along, function=F.softmin):
    """`softmax(-x)` along `dim`.

    >>> torch.nn.Softmin(dim=0)(torch.tensor([0.0, 1.0]))
    tensor([0.7311, 0.2689])
    """


class Softmax2d(Module):
    """Softmax over the channels at each place of an image.

    Shape: `(N, C, H, W)` or `(C, H, W)`, to the same.

    >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise value_error(
                f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead",
                "Pass (N, C, H, W) or (C, H, W).",
            )
        return F.softmax(input, -3, _stacklevel=5)


class GLU(Module):
    """Gated linear unit: the first half along `dim` times the sigmoid of the second.

    Source: Dauphin et al., Language modeling with gated convolutional networks, 2016.

    >>> torch.nn.GLU()(torch.tensor([3.0, 0.0]))
    tensor([1.5000])
    """

    __constants__ = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class MultiheadAttention(Module):
    """Attention in several heads, with projections before and behind.

    `head_i = softmax(Q_i K_i^T / sqrt(E / heads)) V_i` with Q = W_q query + b_q, K = W_k key + b_k,
    V = W_v value + b_v cut into heads; the result is W_o of all heads side by side, plus b_o.

    Args:
        embed_dim: features of query and result, E
        num_heads: number of heads, a divisor of E
        dropout: probability with which weights of the attention are dropped in training
        bias: whether projections have biases
        add_bias_kv: whether there is one more key and value that are learned
        add_zero_attn: whether there is one more key and value of zeros
        kdim, vdim: features of key and value, E if not given
        batch_first: whether tensors are (N, L, E) and not (L, N, E)

    Shape: query (L, N, E), key (S, N, kdim), value (S, N, vdim), all without N or none; result
    (L, N, E) and, with `need_weights`, the weights (N, L, S), with `average_attn_weights=False`
    (N, num_heads, L, S). `key_padding_mask` (N, S) and `attn_mask` (L, S) or (N * num_heads, L, S)
    are True where a key is left out, or added to the scores. `is_causal` says that `attn_mask` is
    the causal one.

    Source: Vaswani et al., Attention is all you need, 2017, section 3.2.2.

    >>> attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = torch.zeros(3, 5, 8)
    >>> y, weights = attention(x, x, x)
    >>> y.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 5]))
    """

    __constants__ = ("batch_first",)

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise value_error(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead",
                "Both are counts.",
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout = num_heads, dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise assertion_error(
                "embed_dim must be divisible by num_heads",
                "Each head has embed_dim / num_heads features.",
            )

        def parameter(*shape: int) -> Parameter:
            return Parameter(empty(shape, device=device, dtype=dtype))

        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = parameter(embed_dim, embed_dim)
            self.k_proj_weight = parameter(embed_dim, self.kdim)
            self.v_proj_weight = parameter(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = parameter(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        if add_bias_kv:
            self.bias_k = parameter(1, 1, embed_dim)
            self.bias_v = parameter(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Projections of the input by `xavier_uniform_`, biases 0, extra keys by `xavier_normal_`.

        Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
        networks, 2010.
        """
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        batched = query.dim() == 3
        key_padding_mask = additive(
            *(key_padding_mask, "key_padding_mask", query.dtype, attn_mask, "attn_mask")
        )
        attn_mask = additive(attn_mask, "attn_mask", query.dtype)
        if self.batch_first and batched:
            # what is one tensor stays one: it is projected by one product
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        result, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        if self.batch_first and batched:
            result = result.transpose(1, 0)
        return result, weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one (N, num_heads, L, S) and its kind: 0 scores, 1 padding, 2 both.

        >>> attention = torch.nn.MultiheadAttention(4, 2)
        >>> mask, kind = attention.merge_masks(torch.zeros(3, 3), None, torch.zeros(1, 3, 4))
        >>> mask.shape, kind
        (torch.Size([1, 2, 3, 3]), 2)
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(n, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(n, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            padding = key_padding_mask.view(n, 1, 1, length).expand(-1, self.num_heads, -1, -1)
            merged = merged + padding
        return merged, 2


__all__ = public_names(globals())
