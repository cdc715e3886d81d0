"""Programs with custom functions, as people write them: what they print is what PyTorch prints."""

import pytest

import tapegrad

PROGRAMS = {
    "a polynomial of Legendre": """
class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input ** 3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input ** 2 - 1)

x = torch.linspace(-2, 2, 9) + 0.25
y = torch.sin(x)
a, b, c, d = (torch.full((), v, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3))
for t in range(3):
    loss = (a + b * LegendrePolynomial3.apply(c + d * x) - y).pow(2).sum()
    loss.backward()
    show(loss, b.grad, d.grad)
    with torch.no_grad():
        for p in (a, b, c, d):
            p -= 1e-2 * p.grad
            p.grad = None
""",
    "a line with a bias or without": """
class Line(torch.autograd.Function):
    @staticmethod
    def forward(input, weight, bias):
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        input, weight, bias = ctx.saved_tensors
        show(ctx.needs_input_grad)
        grad_bias = g.sum(0) if bias is not None and ctx.needs_input_grad[2] else None
        return g.mm(weight), g.t().mm(input), grad_bias

x = torch.arange(6.0).view(2, 3)
w = torch.ones(2, 3, requires_grad=True)
b = torch.zeros(2, requires_grad=True)
Line.apply(x, w, b).pow(2).sum().backward()
Line.apply(x, w, None).pow(2).sum().backward()
show(w.grad, b.grad, Line.apply(x, w, b))
""",
    "a hyperbolic sine with results to differentiate again": """
class Sinh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        expx, expnegx = torch.exp(x), torch.exp(-x)
        ctx.save_for_backward(expx, expnegx)
        return (expx - expnegx) / 2, expx, expnegx

    @staticmethod
    def backward(ctx, g, g_exp, g_neg):
        expx, expnegx = ctx.saved_tensors
        return g * (expx + expnegx) / 2 + g_exp * expx - g_neg * expnegx

x = torch.tensor([0.5, -1.0], requires_grad=True)
y = Sinh.apply(x)[0]
slope, = torch.autograd.grad(y.sum(), x, create_graph=True)
show(y, slope, torch.autograd.grad(slope.sum(), x))
""",
    "a step passed straight through, and a reversed gradient": """
class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()

    @staticmethod
    def backward(ctx, g):
        return torch.nn.functional.hardtanh(g)

class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.alpha, None

x = torch.tensor([-1.0, 2.0], requires_grad=True)
y = Reversed.apply(Step.apply(x), 0.5)
show(y)
(y * torch.tensor([0.5, 7.0])).sum().backward()
show(x.grad)
y.add_(1)
""",
    "writes in place": """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        ctx.mark_dirty(x)
        return x.mul_(k)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None

x = torch.tensor([1.0, 2.0], requires_grad=True)
c = x.clone()
part = c[:1]
y = Scale.apply(part, 3)
show(y is part, y, c, c.grad_fn.next_functions[0][0].name())
c.sum().backward()
show(x.grad)
d = x.clone()
kept = d * d
Scale.apply(d, 2)
kept.sum().backward()
""",
    "what is wrong": """
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return found(g)

x = torch.tensor([1.0, 2.0], requires_grad=True)
for found in (
    lambda g: g,
    lambda g: (g, g),
    lambda g: (g, None, g),
    lambda g: (torch.ones(3), None),
    lambda g: (2.0, None),
):
    try:
        Wrong.apply(x, 3).sum().backward()
    except RuntimeError as error:
        show(str(error))
""",
    "tangents": """
import_forward_ad = torch.autograd.forward_ad

class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, a, b):
        x, y = ctx.saved_tensors
        show(a, b)
        return a * y + x * b

with import_forward_ad.dual_level():
    x = import_forward_ad.make_dual(torch.tensor([3.0]), torch.tensor([2.0]))
    w = torch.tensor([5.0], requires_grad=True)
    y = import_forward_ad.unpack_dual(Product.apply(x, w))
    show(y.primal.detach(), y.tangent.detach(), torch.autograd.grad(y.tangent, w))
""",
}


def printed(torch, program):
    """What a program shows, and the error it ends with."""
    lines = []

    def show(*values):
        lines.append(" ".join(str(value) for value in values))

    try:
        exec(program, {"torch": torch, "show": show})
    except RuntimeError as error:
        lines.append(str(error))
    return lines


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_a_program_prints_what_pytorch_prints(pytorch, name):
    assert printed(tapegrad, PROGRAMS[name]) == printed(pytorch, PROGRAMS[name])
