"""Cross-entropy of linear scores, piece by piece: the scores of all samples never exist at once."""

from tapegrad.core.annotations import Any, Array, Namespace, Sequence
from tapegrad.dispatch.op import primitive


def _pieces(input: Any, target: Any, scale: Any, chunk: int) -> list:
    n = input.shape[0]
    ends = [(i, min(i + chunk, n)) for i in range(0, n, chunk)]
    return [(input[i:j, ...], target[i:j, ...], scale[i:j, ...], i, j) for i, j in ends]


def _logits(xp: Namespace, x: Array, weight: Array, bias: Array) -> Any:
    product = xp.matmul(x, xp.matrix_transpose(weight))
    return product if bias is None else product + bias


def _chosen(xp: Namespace, target: Array, classes: Any) -> Any:
    """(N, C): true in the column of each target."""
    return xp.reshape(classes, (1, -1)) == xp.reshape(target, (-1, 1))


def _slopes(
    xp: Namespace, x: Array, weight: Array, bias: Array, target: Array, scale: Array, classes: Any
) -> Any:
    """The derivative of each loss in each score: (softmax - 1 at the target) * scale."""
    logits = _logits(xp, x, weight, bias)
    e = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    p = e / xp.sum(e, axis=1, keepdims=True)
    return xp.where(_chosen(xp, target, classes), p - 1, p) * xp.reshape(scale, (-1, 1))


@primitive(kernels=("pad_slice",))
def chunked_cross_entropy(xp, *inputs, chunk, wants_input):
    """scale * (log(sum(exp(s))) - s[target]) of each row of the scores s = input weight^T + bias.

    `inputs` are input (N, D), weight (C, D), target and scale (N,), classes 0 to C - 1, and perhaps
    bias (C,): `chunk` rows are worked on at a time.
    """
    input, weight, target, scale, classes, bias = _named(inputs)
    losses = []
    for x, t, c, _, _ in _pieces(input, target, scale, chunk):
        logits = _logits(xp, x, weight, bias)
        logits = logits - xp.max(logits, axis=1, keepdims=True)
        picked = xp.sum(xp.where(_chosen(xp, t, classes), logits, 0), axis=1)
        losses.append((xp.log(xp.sum(xp.exp(logits), axis=1)) - picked) * c)
    return xp.concat(losses, axis=0)


chunked_cross_entropy.op.hidden = (2, 3, 4)  # no edges of the graph


def _named(inputs: Sequence) -> Any:
    """The inputs, with None for a bias that is not there."""
    return inputs if len(inputs) == 6 else (*inputs, None)


def _gradients(xp, g, inputs, chunk, wants_input):
    """All gradients together: the scores are computed once more, not once for each."""
    input, weight, target, scale, classes, bias = _named(inputs)
    rows, total, of_bias = [], None, None
    for x, t, c, i, j in _pieces(input, target, scale, chunk):
        slopes = _slopes(xp, x, weight, bias, t, c * g[i:j, ...], classes)
        if wants_input:
            rows.append(xp.matmul(slopes, weight))
        part = xp.matmul(xp.matrix_transpose(slopes), x)
        total = part if total is None else total + part
        if bias is not None:
            part = xp.sum(slopes, axis=0)
            of_bias = part if of_bias is None else of_bias + part
    found = [xp.concat(rows, axis=0) if wants_input else None, total, None, None, None]
    return found if bias is None else [*found, of_bias]


def _tangent(xp, t, inputs, chunk):
    input, weight, target, scale, classes, bias = _named(inputs)
    t_input, t_weight, _, _, _, t_bias = _named(t)
    found = []
    for x, labels, c, i, j in _pieces(input, target, scale, chunk):
        slopes = _slopes(xp, x, weight, bias, labels, c, classes)
        change = xp.matmul(t_input[i:j, ...], xp.matrix_transpose(weight))
        change = change + _logits(xp, x, t_weight, t_bias)
        found.append(xp.sum(slopes * change, axis=1))
    return xp.concat(found, axis=0)


chunked_cross_entropy.vjp(inputs=_gradients)
chunked_cross_entropy.jvp(inputs=_tangent)
