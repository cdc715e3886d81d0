"""Cross-entropy of linear scores, piece by piece: the scores of all samples never exist at once."""

from __future__ import annotations

from typing import Any

from tapegrad.op import primitive


def _pieces(input: Any, target: Any, scale: Any, chunk: int) -> list:
    n = input.shape[0]
    ends = [(i, min(i + chunk, n)) for i in range(0, n, chunk)]
    return [(input[i:j, ...], target[i:j, ...], scale[i:j, ...], i, j) for i, j in ends]


def _logits(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    product = xp.matmul(x, xp.matrix_transpose(weight))
    return product if bias is None else product + bias


def _chosen(xp: Any, target: Any, classes: Any) -> Any:
    """(N, C): true in the column of each target."""
    return xp.reshape(classes, (1, -1)) == xp.reshape(target, (-1, 1))


def _slopes(xp: Any, x: Any, weight: Any, bias: Any, target: Any, scale: Any, classes: Any) -> Any:
    """The derivative of each loss in each score: (softmax - 1 at the target) * scale."""
    logits = _logits(xp, x, weight, bias)
    e = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    p = e / xp.sum(e, axis=1, keepdims=True)
    return xp.where(_chosen(xp, target, classes), p - 1, p) * xp.reshape(scale, (-1, 1))


@primitive(hidden=("target", "scale", "classes"), kernels=("pad_slice",))
def chunked_cross_entropy(xp, input, weight, bias, target, scale, classes, *, chunk):
    """scale * (log(sum(exp(s))) - s[target]) of the scores s = input weight^T + bias, for each row.

    input (N, D), weight (C, D), bias (C,) or None, target and scale (N,), classes 0 to C - 1:
    `chunk` rows at a time.
    """
    losses = []
    for x, t, c, _, _ in _pieces(input, target, scale, chunk):
        logits = _logits(xp, x, weight, bias)
        logits = logits - xp.max(logits, axis=1, keepdims=True)
        picked = xp.sum(xp.where(_chosen(xp, t, classes), logits, 0), axis=1)
        losses.append((xp.log(xp.sum(xp.exp(logits), axis=1)) - picked) * c)
    return xp.concat(losses, axis=0)


def _input_rule(xp, g, input, weight, bias, target, scale, classes, chunk):
    found = []
    for x, t, c, i, j in _pieces(input, target, scale, chunk):
        found.append(xp.matmul(_slopes(xp, x, weight, bias, t, c * g[i:j, ...], classes), weight))
    return xp.concat(found, axis=0)


def _weight_rule(xp, g, input, weight, bias, target, scale, classes, chunk):
    total = None
    for x, t, c, i, j in _pieces(input, target, scale, chunk):
        slopes = _slopes(xp, x, weight, bias, t, c * g[i:j, ...], classes)
        part = xp.matmul(xp.matrix_transpose(slopes), x)
        total = part if total is None else total + part
    return total


def _bias_rule(xp, g, input, weight, bias, target, scale, classes, chunk):
    total = None
    for x, t, c, i, j in _pieces(input, target, scale, chunk):
        part = xp.sum(_slopes(xp, x, weight, bias, t, c * g[i:j, ...], classes), axis=0)
        total = part if total is None else total + part
    return total


chunked_cross_entropy.vjp(input=_input_rule, weight=_weight_rule, bias=_bias_rule)


def _tangent(xp, change, input, weight, bias, target, scale, classes, chunk):
    """The tangent of the losses where the scores of rows i to j change by `change(i, j)`."""
    found = []
    for x, t, c, i, j in _pieces(input, target, scale, chunk):
        slopes = _slopes(xp, x, weight, bias, t, c, classes)
        found.append(xp.sum(slopes * change(i, j), axis=1))
    return xp.concat(found, axis=0)


chunked_cross_entropy.jvp(
    input=lambda xp, t, input, weight, bias, target, scale, classes, chunk: _tangent(
        xp,
        lambda i, j: xp.matmul(t[i:j, ...], xp.matrix_transpose(weight)),
        *(input, weight, bias, target, scale, classes, chunk),
    ),
    weight=lambda xp, t, input, weight, bias, target, scale, classes, chunk: _tangent(
        xp,
        lambda i, j: xp.matmul(input[i:j, ...], xp.matrix_transpose(t)),
        *(input, weight, bias, target, scale, classes, chunk),
    ),
    bias=lambda xp, t, input, weight, bias, target, scale, classes, chunk: _tangent(
        xp, lambda i, j: t, input, weight, bias, target, scale, classes, chunk
    ),
)
