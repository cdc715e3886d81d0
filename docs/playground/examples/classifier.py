import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph

torch.manual_seed(0)
points = torch.randn(200, 2)
target = (points[:, 0] * points[:, 1] > 0).long()  # two quadrants against two

model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

for epoch in range(100):
    loss = nn.functional.cross_entropy(model(points), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 19:
        right = (model(points).argmax(1) == target).float().mean()
        print(f"epoch {epoch + 1:3}  loss {loss.item():.3f}  right {100 * right.item():.0f} %")

loss = nn.functional.cross_entropy(model(points), target)
graph(loss, gradients=True, title="a classifier").show()
