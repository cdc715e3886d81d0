"""Operators that look at the numbers of what they are given, in compiled functions."""

import tapegrad as torch
from tapegrad import nn
from tests.compiler.side_by_side import side_by_side


@side_by_side("numpy", "c")
def test_connectionist_temporal_classification(run):
    torch.manual_seed(0)
    loss, scores = nn.CTCLoss(), nn.Linear(6, 5)
    optimizer = torch.optim.SGD(scores.parameters(), lr=0.1)

    def step(x, targets, times, lengths):
        optimizer.zero_grad()
        found = loss(scores(x).log_softmax(2), targets, times, lengths)
        found.backward()
        optimizer.step()
        return found

    step = run.compile(step)
    times = torch.tensor([9, 7])
    for i in range(6):
        x, targets = torch.randn(9, 2, 6), torch.randint(1, 5, (2, 4))
        run.call(step, x, targets, times - int(i == 4), torch.tensor([4, 3 + i % 2]))
    run.call(step, x, targets, times, torch.tensor([2, 1]))  # fewer labels: other shapes
    run.call(step, x, targets, times + 1, torch.tensor([4, 1]))  # longer than x
    run.call(step, x, targets + 5, times, torch.tensor([4, 1]))  # beyond the classes
    run.call(step, x, targets, times, torch.tensor([4, 1]))
    run.look(scores)


@side_by_side("numpy", "c")
def test_lists_of_labels(run):
    torch.manual_seed(0)
    f = run.compile(lambda x, y: nn.functional.multilabel_margin_loss(x, y))
    first, second = torch.tensor([[0, 1, -1, 2], [1, -1, 0, 0]]), torch.tensor([[3, 2, 1, -1]] * 2)
    for y in (first, first, first.flip(0), second, first, second):
        x = torch.randn(2, 4, requires_grad=True)
        found = run.call(f, x, y)
        found.backward()
        run.look(x)
    run.call(f, x, first + 3)


@side_by_side("numpy", "c")
def test_maxima_of_bags(run):
    torch.manual_seed(0)
    bags = nn.EmbeddingBag(10, 3, mode="max")
    f = run.compile(lambda index, offsets: bags(index, offsets).square().sum())
    for _ in range(5):
        found = run.call(f, torch.randint(0, 10, (8,)), torch.tensor([0, 3, 3]))
        found.backward()
        run.look(bags)
    run.call(f, torch.randint(0, 10, (8,)) + 9, torch.tensor([0, 3, 3]))
