import tapegrad as torch

torch.manual_seed(0)
x = torch.randn(3, requires_grad=True)
y = (x * x).tanh().sum()
y.backward()

print(x)
print(y)
print(x.grad)  # 2 x (1 - tanh(x^2)^2)
