"""The views of forward mode: a tensor as it goes into a level, and as it comes out."""

from tapegrad.dispatch.op import jvp, linear, primitive, vjp


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


@jvp(t=lambda t: t, primal=lambda xp, t: xp.zeros_like(t))
@vjp(t=lambda g: g, primal=lambda xp, g: xp.zeros_like(g))
@primitive(node="AddBackward0", numbers=False, registered=False)
def tied(xp, t, primal):
    """A tangent connected to its primal, as if a zero that the primal takes part in had been added.

    Where one operand does not change, PyTorch's sums of rules have such a term.
    """
    return t
