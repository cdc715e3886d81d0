"""Whole training steps of small models: forward, backward and the optimiser's."""

from row import TORCH, Row, all_cores, memory, native, ratio


def training(model, optimizer, loss_of, x, y):
    """A step that trains `model` on one batch."""

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def dense(torch):
    nn = torch.nn
    torch.manual_seed(0)
    x, y = torch.randn(64, 1000), torch.randn(64, 10)
    model = nn.Sequential(nn.Linear(1000, 100), nn.ReLU(), nn.Linear(100, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    return training(model, optimizer, nn.MSELoss(), x, y)


def tanh(torch):
    nn = torch.nn
    torch.manual_seed(0)
    x, y = torch.randn(32, 4), torch.randn(32, 2)
    layers = (nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return training(model, optimizer, nn.MSELoss(), x, y)


def lenet(torch):
    """The network of PyTorch's MNIST example."""
    nn, F = torch.nn, torch.nn.functional

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 32, 3)
            self.conv2 = nn.Conv2d(32, 64, 3)
            self.dropout1 = nn.Dropout(0.25)
            self.dropout2 = nn.Dropout(0.5)
            self.fc1 = nn.Linear(9216, 128)
            self.fc2 = nn.Linear(128, 10)

        def forward(self, x):  # (N, 1, 28, 28)
            x = F.relu(self.conv1(x))  # (N, 32, 26, 26)
            x = F.relu(self.conv2(x))  # (N, 64, 24, 24)
            x = self.dropout1(F.max_pool2d(x, 2))  # (N, 64, 12, 12)
            x = F.relu(self.fc1(torch.flatten(x, 1)))
            return F.log_softmax(self.fc2(self.dropout2(x)), dim=1)  # (N, 10)

    torch.manual_seed(0)
    x, y = torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))
    model = LeNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    return training(model, optimizer, F.nll_loss, x, y)


def lstm(torch):
    nn = torch.nn

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(128, 128, batch_first=True)
            self.head = nn.Linear(128, 10)

        def forward(self, x):  # (N, T, 128)
            outputs, _ = self.lstm(x)
            return self.head(outputs[:, -1])  # (N, 10)

    torch.manual_seed(0)
    x, y = torch.randn(32, 64, 128), torch.randint(0, 10, (32,))
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return training(model, optimizer, nn.CrossEntropyLoss(), x, y)


def residual(torch):
    """A block of 64 channels, twice a convolution and a batch norm, added to what went in."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
            self.conv2 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(64), nn.BatchNorm2d(64)

        def forward(self, x):  # (N, 64, H, W)
            y = F.relu(self.norm1(self.conv1(x)))
            return F.relu(x + self.norm2(self.conv2(y)))

    torch.manual_seed(0)
    x, y = torch.randn(16, 64, 32, 32), torch.randn(16, 64, 32, 32)
    model = Block()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return training(model, optimizer, F.mse_loss, x, y)


def row(make, title, count, limit):
    """The row of what `make(torch)` returns, done `count` times in a sample."""

    def tensors(torch):
        step = make(torch)

        def steps():
            for _ in range(count):
                step()

        return steps

    return Row(
        f"train_{make.__name__}",
        title,
        tensors,
        count=count,
        per="training step",
        peak=True,
        bounds=(ratio(TORCH, limit), memory(TORCH, 1.3)),
    )


def both(make, title, count, limit, limit_all_cores, limit_native=None):
    """Its rows on one core and on all of them, and there with kernels in C."""
    one = row(make, title, count, limit)
    in_c = [] if limit_native is None else [native(one, limit_native)]
    return one, all_cores(one, limit_all_cores), *in_c


ROWS = [
    row(dense, "Linear(1000, 100), ReLU, Linear(100, 10), MSE, Adam, batch 64", 100, 0.65),
    row(tanh, "4-64-64-2 with tanh, MSE, Adam, batch 32", 500, 0.6),
    *both(lenet, "the network of PyTorch's MNIST example, NLL, SGD, batch 64", 5, 1.05, 1.2, 0.9),
    *both(residual, "residual block of 64 channels, 32x32, SGD, batch 16", 3, 1.25, 1.2, 0.95),
    *both(lstm, "LSTM of 128 over 64 steps, cross-entropy, Adam, batch 32", 10, 1.3, 1.3, 0.9),
]
