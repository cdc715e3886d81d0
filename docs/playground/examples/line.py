import tapegrad as torch
from tapegrad.inspect import graph

torch.manual_seed(0)
x = torch.linspace(-1, 1, 50)
y = 3 * x - 1 + 0.1 * torch.randn(50)

slope = torch.zeros((), requires_grad=True)
offset = torch.zeros((), requires_grad=True)
optimizer = torch.optim.SGD([slope, offset], lr=0.2)

for step in range(60):
    loss = ((slope * x + offset - y) ** 2).mean()
    if step % 10 == 0:
        print(f"{step:3}  loss {loss.item():.4f}  y = {slope.item():.3f} x + {offset.item():.3f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

loss = ((slope * x + offset - y) ** 2).mean()
graph(loss, gradients=True, title="the last step").show()
