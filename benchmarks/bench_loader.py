"""A pass over a data set of tensors in shuffled batches, as a training loop makes it."""

from row import TORCH, Row, memory, ratio

SAMPLES, FEATURES, BATCH = 50_000, 32, 64


def loader(torch):
    from importlib import import_module

    data = import_module(f"{torch.__name__}.utils.data")
    torch.manual_seed(0)
    x = torch.randn(SAMPLES, FEATURES)
    y = torch.randint(0, 10, (SAMPLES,))
    batches = data.DataLoader(data.TensorDataset(x, y), batch_size=BATCH, shuffle=True)

    def step():
        n = 0
        for inputs, targets in batches:  # noqa: B007  (the last one is looked at below)
            n += len(targets)
        assert n == SAMPLES and inputs.shape[1] == FEATURES

    return step


def loader_by_hand(np):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((SAMPLES, FEATURES), dtype=np.float32)
    y = rng.integers(0, 10, SAMPLES)

    def step():
        n = 0
        order = rng.permutation(SAMPLES)
        for start in range(0, SAMPLES, BATCH):
            index = order[start : start + BATCH]
            inputs, targets = x[index], y[index]
            n += len(targets)
        assert n == SAMPLES and inputs.shape[1] == FEATURES

    return step


ROWS = [
    Row(
        "loader",
        "DataLoader over a TensorDataset of 50,000 samples, batches of 64, shuffled",
        loader,
        loader_by_hand,
        per="epoch",
        repeats=15,
        peak=True,
        bounds=(ratio(TORCH, 0.3), memory(TORCH, 1.3)),
    )
]
