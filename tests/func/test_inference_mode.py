"""Transforms in inference mode: derivatives are those of elsewhere, and no inference tensors."""

import pytest

import tapegrad as torch
from tapegrad import func


def cube(x):
    return (x**3).sum()


V = torch.tensor([1.0, -1.0])
TRANSFORMS = {
    "grad": func.grad(cube),
    "vjp": lambda x: func.vjp(torch.sin, x)[1](V)[0],
    "jvp": lambda x: func.jvp(torch.sin, (x,), (V,))[1],
    "linearize": lambda x: func.linearize(torch.sin, x)[1](V),
    "jacrev": func.jacrev(torch.sin),
    "jacfwd": func.jacfwd(torch.sin),
    "hessian": func.hessian(cube),
    "vmap of grad": func.vmap(func.grad(lambda x: x.exp())),
    "grad of grad": func.vmap(func.grad(func.grad(lambda x: x**3))),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_derivatives_are_those_of_elsewhere(name):
    x = torch.tensor([0.5, 2.0])
    expected = TRANSFORMS[name](x)
    with torch.inference_mode():
        for given in (x, x.clone()):
            found = TRANSFORMS[name](given)
            assert found.tolist() == expected.tolist() and not found.is_inference()
        assert (x * 2).is_inference()
