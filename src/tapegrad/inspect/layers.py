"""Where the nodes of a directed graph without cycles stand when it is drawn in layers.

Layers by longest path, crossings reduced by sorting each layer by the means of its neighbours
(Sugiyama, Tagawa and Toda 1981), positions that come closest to those means. It is for still
pictures; the page for the browser has a library for this.
"""

from __future__ import annotations

from itertools import pairwise

SWEEPS = 8
_LONG = 40  # layers; an edge across more of them is drawn straight, lest its points be millions


def layered(
    sizes: list[tuple[float, float]],
    edges: list[tuple[int, int]],
    gap: tuple[float, float] = (18.0, 34.0),
) -> tuple[list[tuple[float, float]], list[list[tuple[float, float]]]]:
    """The centre of each node, and the points that each edge goes through.

    Args:
        sizes: width and height of each node.
        edges: pairs (from, to) of numbers of nodes, `from < to` in all of them.
        gap: between nodes of a layer, and between layers.

    >>> from tapegrad.inspect.layers import layered
    >>> places, routes = layered([(10, 10)] * 3, [(0, 1), (1, 2)], gap=(5, 5))
    >>> places
    [(5.0, 5.0), (5.0, 20.0), (5.0, 35.0)]
    """
    rank = _ranks(len(sizes), edges)
    widths = [width for width, _ in sizes]
    heights = [0.0] * (max(rank, default=-1) + 1)
    for (_, height), layer in zip(sizes, rank, strict=True):
        heights[layer] = max(heights[layer], height)
    chains = []  # of each edge: its ends, and a point in every layer between
    for start, end in edges:
        is_long = rank[end] - rank[start] > _LONG
        between = range(0) if is_long else range(rank[start] + 1, rank[end])
        points = list(range(len(widths), len(widths) + len(between)))
        widths += [2.0] * len(between)
        rank += between
        chains.append([start, *points, end])
    above: list[list[int]] = [[] for _ in widths]
    below: list[list[int]] = [[] for _ in widths]
    for chain in chains:
        for a, b in pairwise(chain):
            below[a].append(b)
            above[b].append(a)
    layers: list[list[int]] = [[] for _ in heights]
    for i, layer in enumerate(rank):
        layers[layer].append(i)
    _order(layers, above, below)
    x = _positions(layers, above, below, widths, gap[0])
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + gap[1])
    left = min((x[i] - widths[i] / 2 for i in range(len(x))), default=0.0)
    places = [(x[i] - left, tops[rank[i]] + heights[rank[i]] / 2) for i in range(len(x))]
    return places[: len(sizes)], [[places[i] for i in chain] for chain in chains]


def _ranks(n: int, edges: list[tuple[int, int]]) -> list[int]:
    """The layer of each node: below all its inputs, as high as that allows.

    What is computed from leaves alone, for a single user, stands right above that.
    """
    rank = [0] * n
    inputs: list[list[int]] = [[] for _ in range(n)]
    users: list[list[int]] = [[] for _ in range(n)]
    for start, end in edges:
        inputs[end].append(start)
        users[start].append(end)
    free = [True] * n
    for i in range(n):  # inputs come before their users
        for source in inputs[i]:
            rank[i] = max(rank[i], rank[source] + 1)
            free[i] = free[i] and free[source] and len(users[source]) == 1
    for i in reversed(range(n)):
        if free[i] and users[i]:
            rank[i] = min(rank[user] for user in users[i]) - 1
    return rank


def _order(layers: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sort the layers so that fewer edges cross, down and up in turn."""
    at = [0.0] * len(above)
    for layer in layers:
        for i, node in enumerate(layer):
            at[node] = float(i)
    for sweep in range(SWEEPS):
        down = not sweep % 2
        near = above if down else below
        for layer in layers if down else reversed(layers):
            mean = {
                v: sum(at[u] for u in near[v]) / len(near[v]) if near[v] else at[v] for v in layer
            }
            layer.sort(key=mean.__getitem__)
            for i, node in enumerate(layer):
                at[node] = float(i)


def _positions(
    layers: list[list[int]],
    above: list[list[int]],
    below: list[list[int]],
    widths: list[float],
    gap: float,
) -> list[float]:
    x = [0.0] * len(above)
    for layer in layers:
        right = 0.0
        for node in layer:
            x[node] = right + widths[node] / 2
            right += widths[node] + gap
    for sweep in range(SWEEPS):
        down = not sweep % 2
        near = above if down else below
        for layer in layers if down else reversed(layers):
            wanted = [sum(x[u] for u in near[v]) / len(near[v]) if near[v] else x[v] for v in layer]
            apart = [(widths[a] + widths[b]) / 2 + gap for a, b in pairwise(layer)]
            for node, place in zip(layer, _spread(wanted, apart), strict=True):
                x[node] = place
    return x


def _spread(wanted: list[float], apart: list[float]) -> list[float]:
    """The places closest to those wanted, in their order and at least so far apart.

    Less the distances this is isotonic regression: neighbours in the wrong order share their mean.
    """
    offsets = [0.0]
    for distance in apart:
        offsets.append(offsets[-1] + distance)
    blocks: list[list[float]] = []  # sum and number of what shares a place
    for place, offset in zip(wanted, offsets, strict=False):
        blocks.append([place - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, n = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += n
    means = [total / n for total, n in blocks for _ in range(int(n))]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]
