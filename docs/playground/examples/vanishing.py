# Why nobody stacks eight layers of sigmoid: look at the blue edges.
import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph

torch.manual_seed(0)
layers = [each for _ in range(8) for each in (nn.Linear(16, 16), nn.Sigmoid())]
model = nn.Sequential(*layers)
loss = model(torch.randn(4, 16)).mean()
loss.backward()

for name, param in model.named_parameters():
    if name.endswith("weight"):
        print(f"{name:10}  gradient of norm {param.grad.norm().item():.1e}")

loss = model(torch.randn(4, 16)).mean()
graph(loss, gradients=True, title="eight layers of sigmoid").show()
