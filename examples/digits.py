"""A convolutional network reads handwritten digits, 8 by 8 pixels each.

    python examples/digits.py --epochs 30 --seed 0

It learns from 1,437 images and is tested on the other 360, which are chosen at random and not
looked at before the end. In each epoch every image is turned, scaled, sheared and moved a little,
in another way each time. The seeds 0 to 8 then read 99.2% to 100% of the test; with the images as
they are, 98.1% to 100%.
"""

import argparse
import time

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad import nn
from tapegrad.data import load_digits
from tapegrad.utils.data import DataLoader, TensorDataset, random_split


def block(n_in, n_out):
    """A convolution of 3 by 3 pixels; its bias would only be subtracted again by the norm."""
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU()
    )


class Net(nn.Module):
    """Three convolutions, the picture halved after the second and the third; a linear layer."""

    def __init__(self, n_classes=10):
        super().__init__()
        self.body = nn.Sequential(
            block(1, 16),
            block(16, 32),
            nn.MaxPool2d(2),  # (n, 32, 4, 4)
            block(32, 64),
            nn.MaxPool2d(2),  # (n, 64, 2, 2)
            nn.Flatten(),
        )
        self.head = nn.Sequential(nn.Dropout(0.3), nn.Linear(256, n_classes))

    def forward(self, x):
        return self.head(self.body(x))


def digits():
    """All images (1797, 1, 8, 8), paper 0 and ink 1, and their labels (1797,)."""
    images, labels = load_digits()
    return torch.from_numpy(images).float().unsqueeze(1) / 16, torch.from_numpy(labels).long()


def distort(images):
    """Each image turned, scaled, sheared and moved a little by a random affine map."""
    theta = torch.eye(2, 3) + 0.12 * torch.randn(len(images), 2, 3)
    grid = F.affine_grid(theta, images.shape, align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


def accuracy(model, images, labels):
    """The part of `images` that the model reads as they are labelled, 0 to 1."""
    model.eval()
    with torch.no_grad():
        guesses = model(images).argmax(dim=1)
    model.train()
    return (guesses == labels).float().mean().item()


def train(epochs=30, batch_size=32, lr=5e-3, seed=0, compiled=False):
    """Train on 80 % of the digits; the accuracy on the others, and the loss of each step."""
    torch.manual_seed(seed)
    images, labels = digits()
    training, test = random_split(TensorDataset(images, labels), [1437, 360])
    loader = DataLoader(training, batch_size=batch_size, shuffle=True)

    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=lr, total_steps=epochs * len(loader)
    )

    def step(x, y):
        loss = F.cross_entropy(model(distort(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    if compiled:
        step = torch.compile(step)
    losses = []
    start = time.process_time()
    for epoch in range(epochs):
        for x, y in loader:
            losses.append(step(x, y).item())
            scheduler.step()
        mean = sum(losses[-len(loader) :]) / len(loader)
        print(f"epoch {epoch + 1:2d} of {epochs}: loss {mean:.4f}", flush=True)
    seconds = time.process_time() - start
    print(f"{len(losses)} steps, {seconds / len(losses) * 1e3:.2f} ms of CPU time each")
    return accuracy(model, *test[:]), losses


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="compile the training step")
    options = parser.parse_args(argv)
    test_accuracy, _ = train(options.epochs, seed=options.seed, compiled=options.compile)
    print(f"test accuracy {test_accuracy:.2%}")


if __name__ == "__main__":
    main()
