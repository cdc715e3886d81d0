# Reverse-mode differentiation from nothing: numbers that remember how they were made.
import math

import tapegrad as torch


class Number:
    def __init__(self, value, inputs=()):
        self.value, self.inputs = value, inputs  # pairs: an input, the derivative by it
        self.grad = 0.0

    def __add__(self, other):
        return Number(self.value + other.value, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        return Number(self.value * other.value, [(self, other.value), (other, self.value)])

    def tanh(self):
        y = math.tanh(self.value)
        return Number(y, [(self, 1 - y * y)])

    def backward(self):
        order, seen = [], set()

        def visit(number):
            if number not in seen:
                seen.add(number)
                for source, _ in number.inputs:
                    visit(source)
                order.append(number)

        visit(self)
        self.grad = 1.0
        for number in reversed(order):
            for source, slope in number.inputs:
                source.grad += slope * number.grad


w, x, b = Number(0.5), Number(2.0), Number(-0.3)
y = (w * x + b).tanh()
y.backward()
print("by hand:", y.value, w.grad, x.grad, b.grad)

# The same with tensors; its graph stands beside this.
w, x, b = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.5, 2.0, -0.3))
loss = (w * x + b).tanh()
loss.backward()
print("tapegrad:", loss.item(), w.grad.item(), x.grad.item(), b.grad.item())
