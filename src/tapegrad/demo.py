"""The demo: a small network learns to read handwritten digits while you watch."""

import sys
import time

import numpy as np

import tapegrad
from tapegrad import nn, optim
from tapegrad.data import load_digits
from tapegrad.inspect.graph_tree import graph_text
from tapegrad.inspect.progress import progress
from tapegrad.inspect.terminal_picture import draw_row, printable

TRAIN = 1500  # images to learn from; the other 297 are the test
HIDDEN = 200
EPOCHS = 30
BATCH = 20  # 20 x 64 x 200 is small enough that BLAS starts no threads, which would only wait here
RATE = 0.01  # at the first step, falling in a straight line to zero

_TRY_NEXT = """\
Try next
  python -m tapegrad demo --seed 1         another split, another start
  python -m tapegrad run your_script.py    a script of yours that says `import torch`
  python                                   >>> import tapegrad as torch
"""


def demo(seed: int = 0) -> float:
    """Train on the UCI digits, show what was learned, and return the test accuracy (0 to 1)."""
    start = time.perf_counter()
    tapegrad.manual_seed(seed)
    images, labels = load_digits()
    pixels = images.astype(np.float32) / 16
    split = tapegrad.randperm(len(images)).numpy()
    train, test = split[:TRAIN], split[TRAIN:]
    print(f"{len(train):,} handwritten digits to learn from, {len(test)} to test (seed {seed})\n")

    model = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 10))
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{model}\n{n_parameters:,} parameters\n")
    n_steps, train_s = _train(model, pixels[train], labels[train])

    with tapegrad.no_grad():
        guesses = model(_inputs(pixels[test])).argmax(dim=1).numpy()
    right = guesses == labels[test]
    accuracy = right.mean()
    print(f"test accuracy {accuracy:.2%}: {right.sum()} of {len(test)}")
    print(f"trained in {train_s:.2f} s: {n_steps:,} steps, {train_s / n_steps * 1e3:.2f} ms a step")

    encoding = sys.stdout.encoding or "ascii"
    print(f"\n{_draw(pixels[test], labels[test], guesses, encoding)}\n")
    loss = nn.functional.cross_entropy(model(_inputs(pixels[test])), _targets(labels[test]))
    print("The graph of the loss, from the result back to the parameters:")
    print(printable(graph_text(loss, params=dict(model.named_parameters())), encoding))
    print(f"\n{_TRY_NEXT}\n{time.perf_counter() - start:.1f} s in all")
    return float(accuracy)


def _train(model, pixels, labels):
    """Steps taken and seconds used by `EPOCHS` rounds over the images."""
    pool, targets = _inputs_moved(pixels), _targets(labels)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=RATE)
    n_images = len(pixels)
    n_steps, step = EPOCHS * -(-n_images // BATCH), 0
    start = time.perf_counter()
    epochs = progress(range(EPOCHS), "epochs")
    for _ in epochs:
        total = 0.0
        for batch in tapegrad.randperm(n_images).split(BATCH):
            moved = tapegrad.randint(len(pool), (len(batch),))
            loss = loss_fn(model(pool[moved, batch]), targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.param_groups[0]["lr"] = RATE * (1 - step / n_steps)
            optimizer.step()
            total += loss.item() * len(batch)
            step += 1
        epochs.show(loss=total / n_images)
    return step, time.perf_counter() - start


def _inputs(pixels):
    return tapegrad.from_numpy(pixels.reshape(-1, 64))


def _inputs_moved(pixels):
    """Eight versions of each image, (8, n, 64): half as it is, half moved by a pixel.

    Without the moved ones the network learns the 1,500 images by heart and reads about 1 % fewer
    of the others.
    """
    padded = np.pad(pixels, ((0, 0), (1, 1), (1, 1)))
    corners = [(1, 1)] * 4 + [(0, 1), (2, 1), (1, 0), (1, 2)]
    versions = [padded[:, top : top + 8, left : left + 8] for top, left in corners]
    return tapegrad.from_numpy(np.stack(versions).reshape(len(versions), -1, 64))


def _targets(labels):
    return tapegrad.from_numpy(labels.astype(np.int64))


def _draw(pixels, labels, guesses, encoding):
    """Three digits of the test, and the first that was misread if there is one."""
    wrong = np.flatnonzero(guesses != labels)
    chosen = [0, 1, 2, wrong[0] if len(wrong) else 3]
    captions = [
        f"reads {guesses[i]}" + ("" if guesses[i] == labels[i] else f", but is {labels[i]}")
        for i in chosen
    ]
    return draw_row(pixels[chosen], captions, encoding=encoding)
