import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph, summary

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(16 * 25, 10),
)  # fmt: skip
images, labels = torch.randn(4, 1, 28, 28), torch.tensor([3, 1, 4, 1])

summary(model, (4, 1, 28, 28))
loss = nn.functional.cross_entropy(model(images), labels)
graph(loss, gradients=True, title="a convolutional network").show()
