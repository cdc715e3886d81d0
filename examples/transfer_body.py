"""Writes transfer_body.pt, the weights that transfer.py starts from. Needs PyTorch.

    python examples/transfer_body.py

A convolutional network learns, in PyTorch, whether a handwritten digit is even or odd, from the
first 1,000 images. Its body is saved; its head, which says even or odd, is not.
"""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from tapegrad.data import load_digits

FILE = Path(__file__).with_name("transfer_body.pt")
FEATURES = 128
SEEN = 1000  # images


def block(n_in, n_out):
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU()
    )


def make_body():
    """Images (n, 1, 8, 8) to features (n, 128)."""
    return nn.Sequential(
        block(1, 8),
        block(8, 16),
        nn.MaxPool2d(2),  # (n, 16, 4, 4)
        block(16, 32),
        nn.MaxPool2d(2),  # (n, 32, 2, 2)
        nn.Flatten(),
    )


def distort(images):
    """Each image turned, scaled, sheared and moved a little."""
    theta = torch.eye(2, 3) + 0.12 * torch.randn(len(images), 2, 3)
    grid = F.affine_grid(theta, images.shape, align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


def main():
    torch.manual_seed(0)
    images, labels = load_digits()
    x = torch.from_numpy(images[:SEEN]).float().unsqueeze(1) / 16
    odd = torch.from_numpy(labels[:SEEN] % 2).long()

    body = make_body()
    model = nn.Sequential(body, nn.Linear(FEATURES, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(30):
        for batch in torch.randperm(SEEN).split(32):
            loss = F.cross_entropy(model(distort(x[batch])), odd[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1:2d}: loss of the last batch {loss.item():.4f}")
    torch.save(body.state_dict(), FILE)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
