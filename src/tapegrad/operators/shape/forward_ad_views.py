"""The views of forward mode: a tensor as it goes into a level, and as it comes out."""

from tapegrad.dispatch.op import linear, vjp


@vjp(x=lambda g: g)
@linear(node="ViewBackward0", view=True)
def dual_view(xp, x):
    """The same tensor, to be given a tangent."""
    return xp.reshape(x, x.shape)


@vjp(x=lambda g: g)
@linear(node="Identity", view=True)
def primal_view(xp, x):
    """The same tensor without its tangent."""
    return xp.reshape(x, x.shape)
