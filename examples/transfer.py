"""Weights from PyTorch: a network that tells even digits from odd ones learns to read them.

    python examples/transfer.py --shots 2 --seed 0
    python examples/transfer.py --pytorch            # where PyTorch is installed

`transfer_body.pt` is a state_dict that PyTorch wrote (transfer_body.py beside it is the script):
the convolutions of a network that was told of 1,000 digits only whether they are even. They are
frozen, and a new linear head learns to tell all ten digits apart from a few images of each, taken
from the other 797. The same network from scratch gets the same few images. With the
seeds 0 to 4 it reads 78% to 81% of the others, and that of the file 84% to 88%.
"""

import argparse
import time
from pathlib import Path

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad import nn
from tapegrad.data import load_digits

FILE = Path(__file__).with_name("transfer_body.pt")
FEATURES = 128
SEEN = 1000  # images that the network of the file has learned from


def block(n_in, n_out):
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU()
    )


def make_body():
    """Images (n, 1, 8, 8) to features (n, 128): the layers whose weights are in the file."""
    return nn.Sequential(
        block(1, 8),
        block(8, 16),
        nn.MaxPool2d(2),  # (n, 16, 4, 4)
        block(16, 32),
        nn.MaxPool2d(2),  # (n, 32, 2, 2)
        nn.Flatten(),
    )


def pretrained_body():
    """The body with PyTorch's weights, frozen, its batch normalisation by what it saw there."""
    body = make_body()
    body.load_state_dict(torch.load(FILE))
    return body.requires_grad_(False).eval()


def unseen_digits():
    """The other images (797, 1, 8, 8) and which digits they are (797,)."""
    images, labels = load_digits()
    x = torch.from_numpy(images[SEEN:]).float().unsqueeze(1) / 16
    return x, torch.from_numpy(labels[SEEN:]).long()


def few_of_each(labels, shots):
    """The indices of `shots` images of each digit, chosen at random, and a mask of all others."""
    order = torch.randperm(len(labels))
    few = torch.cat([order[labels[order] == digit][:shots] for digit in range(10)])
    others = torch.ones(len(labels), dtype=torch.bool)
    others[few] = False
    return few, others


def fit(model, x, y, lr, steps=100, compiled=False):
    """Train the model on all of x at once; the loss of each step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def step():
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    if compiled:
        step = torch.compile(step)
    return [step().item() for _ in range(steps)]


def accuracy(model, x, y):
    """The part of x that the model reads as y says, 0 to 1."""
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def compare(shots=2, draws=10, seed=0, compiled=False):
    """Mean accuracies with transfer and without over some draws of images, and all losses."""
    torch.manual_seed(seed)
    images, labels = unseen_digits()
    features = pretrained_body()(images)  # (797, 128): the body is frozen, so once is enough
    results, losses = [], []
    print("accuracies with transfer and without")
    for draw in range(draws):
        few, others = few_of_each(labels, shots)
        head = nn.Linear(FEATURES, 10)
        losses += fit(head, features[few], labels[few], lr=1e-2, compiled=compiled)
        scratch = nn.Sequential(make_body(), nn.Linear(FEATURES, 10))
        losses += fit(scratch, images[few], labels[few], lr=3e-3, compiled=compiled)
        with_transfer = accuracy(head, features[others], labels[others])
        without = accuracy(scratch, images[others], labels[others])
        print(f"draw {draw + 1:2d}: {with_transfer:.1%} and {without:.1%}", flush=True)
        results.append([with_transfer, without])
    return torch.tensor(results).mean(dim=0).tolist(), losses


def convert_a_live_model():
    """The same weights another way: a model that lives in PyTorch becomes one of tapegrad's."""
    import transfer_body  # it imports PyTorch

    from tapegrad import from_torch, to_torch

    theirs = transfer_body.make_body().eval()
    theirs.load_state_dict(transfer_body.torch.load(FILE))
    ours = from_torch(theirs)
    images, _ = unseen_digits()
    difference = (ours(images) - from_torch(theirs(to_torch(images)))).abs().max().item()
    print(f"features of {len(images)} images, PyTorch's and ours: {difference:.0e} apart at most")
    return difference


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shots", type=int, default=2, help="images of each digit to learn from")
    parser.add_argument("--draws", type=int, default=10, help="repetitions, each on other images")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="compile the training step")
    parser.add_argument("--pytorch", action="store_true", help="also convert a live model")
    options = parser.parse_args(argv)
    if options.pytorch:
        convert_a_live_model()
    start = time.process_time()
    (with_transfer, without), losses = compare(
        options.shots, options.draws, options.seed, options.compile
    )
    print(f"{len(losses)} steps in {time.process_time() - start:.1f} s of CPU time")
    print(
        f"accuracy from {options.shots} images of each digit: "
        f"{with_transfer:.1%} with transfer, {without:.1%} without"
    )


if __name__ == "__main__":
    main()
