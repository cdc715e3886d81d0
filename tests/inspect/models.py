"""Models whose tables are compared, made of either library's `torch`."""

from importlib import import_module

COLUMNS = (
    "kernel_size",
    "input_size",
    "output_size",
    "num_params",
    "params_percent",
    "mult_adds",
    "trainable",
)


def mlp(torch):
    nn = torch.nn
    return nn.Sequential(nn.Linear(1000, 100), nn.ReLU(), nn.Dropout(0.5), nn.Linear(100, 10))


def cnn(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
            self.conv2 = nn.Conv2d(10, 20, kernel_size=(5, 5), groups=2, bias=False)
            self.norm = nn.BatchNorm2d(20)
            self.pool = nn.MaxPool2d(2)
            self.drop = nn.Dropout2d(0.3)
            self.fc1 = nn.Linear(320, 50)
            self.fc2 = nn.Linear(50, 10)

        def forward(self, x):
            x = self.pool(self.conv1(x)).relu()
            x = self.pool(self.drop(self.norm(self.conv2(x)))).relu()
            return self.fc2(self.fc1(x.flatten(1)).relu()).log_softmax(1)

    return Net()


def lstm(torch):
    nn = torch.nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(20, 8)
            self.lstm = nn.LSTM(8, 16, num_layers=2, bidirectional=True, batch_first=True)
            self.fc = nn.Linear(32, 3)

        def forward(self, words):
            out, (h, _) = self.lstm(self.embedding(words))
            return {"hidden": h, "scores": self.fc(out)}

    return Tagger()


def transformer(torch):
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(16, 4, dim_feedforward=32, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def attention(torch):
    return torch.nn.MultiheadAttention(8, 2)


def nested(torch):
    nn = torch.nn
    inner = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Tanh(), nn.Sequential(nn.Linear(4, 4))))
    return nn.Sequential(inner, nn.ReLU(), nn.Sequential(nn.Sequential(nn.Linear(4, 2))))


def shared(torch):
    nn = torch.nn
    layer = nn.Linear(3, 3)
    return nn.Sequential(layer, nn.ReLU(), layer, nn.Sequential(layer, nn.Linear(3, 3)))


def listed(torch):
    """Layers in lists, called in turn and more than once; frozen, unused and own parameters."""
    nn = torch.nn

    class Lists(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(4))
            self.first = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
            self.second = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})
            self.act = nn.ReLU()
            self.deep = nn.ModuleList([nn.ModuleList([nn.Linear(4, 4)]), nn.Linear(4, 4)])
            self.partly = nn.Linear(4, 4)
            self.partly.bias.requires_grad_(False)
            self.frozen = nn.Linear(4, 4).requires_grad_(False)
            self.unused = nn.Linear(7, 7)
            self.nothing = None

        def forward(self, x):
            for a, b in zip(self.first, self.second.values(), strict=True):
                x = self.act(b(a(x * self.scale)))
            x = self.deep[1](self.deep[0][0](x))
            return self.frozen(self.partly(self.partly(x)))

    return Lists()


def several(torch):
    """Two inputs, an option, several outputs."""
    nn = torch.nn

    class Several(nn.Module):
        def __init__(self):
            super().__init__()
            self.left = nn.Linear(3, 4)
            self.right = nn.Bilinear(4, 5, 2)

        def forward(self, x, y, flip=False):
            a = self.left(x)
            b = self.right(a, y)
            return (b, a) if flip else (a, b)

    return Several()


def mapping(torch):
    nn = torch.nn

    class Mapping(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 4)

        def forward(self, batch):
            return [self.fc(batch["x"]), {"n": batch["n"]}]

    return Mapping()


def lazy(torch):
    nn = torch.nn
    return nn.Sequential(nn.LazyConv1d(4, 3), nn.LazyBatchNorm1d(), nn.Flatten(), nn.LazyLinear(2))


def pruned(torch):
    nn = torch.nn
    prune = import_module(f"{torch.__name__}.nn.utils.prune")
    model = nn.Sequential(nn.Linear(10, 10), nn.Linear(10, 2))
    mask = torch.ones(10, 10)
    mask[:3] = 0
    prune.custom_from_mask(model[0], "weight", mask)
    return model


def kinds(torch):
    """Transposed and three-dimensional convolutions, normalisation, pooling, an upsampling."""
    nn = torch.nn
    return nn.Sequential(
        nn.ConvTranspose2d(3, 6, 3, stride=2),
        nn.GroupNorm(2, 6),
        nn.PReLU(),
        nn.Upsample(scale_factor=2),
        nn.AvgPool2d(2),
        nn.Unflatten(1, (2, 3)),
        nn.Conv3d(2, 4, (1, 2, 3)),
        nn.LayerNorm([3, 14, 13]),
        nn.AdaptiveAvgPool3d(1),
    )


def recurrent(torch):
    return torch.nn.GRU(4, 6)


def rows(torch):
    """(model, arguments of summary) for every table."""
    words = torch.arange(12).reshape(2, 6)
    x = torch.ones(5, 2, 8)
    named = {"x": torch.ones(2, 3), "y": torch.ones(2, 5)}
    batch = {"x": torch.ones(2, 3), "n": torch.arange(2)}
    base = torch.zeros(100, 4)
    everything = {"col_names": COLUMNS, "verbose": 2, "depth": 5}
    yield mlp, {}
    yield mlp, {"input_size": (64, 1000)}
    yield mlp, {"input_size": (1000,), "batch_dim": 0, "mode": "train", "col_names": COLUMNS}
    yield mlp, {"input_size": [7, 1000], "dtypes": [torch.float32], "device": "cpu"}
    yield cnn, {"input_size": (64, 1, 28, 28), "col_names": COLUMNS, "col_width": 16}
    yield cnn, {"input_size": (1, 28, 28), "batch_dim": 0, **everything}
    yield cnn, {"input_size": (512, 1, 28, 28), "row_settings": ("var_names",)}
    yield cnn, {"col_names": ("num_params", "params_percent", "trainable"), "verbose": 2}
    yield lstm, {"input_data": words, "col_names": COLUMNS}
    yield lstm, {"input_size": (3, 9), "dtypes": [torch.long], **everything}
    yield transformer, {"input_size": (3, 7, 16), **everything}
    yield transformer, {"input_size": (3, 7, 16), "row_settings": ("ascii_only", "depth")}
    yield attention, {"input_data": [x, x, x], "col_names": COLUMNS}
    yield attention, {"input_size": [(5, 2, 8)] * 3, "need_weights": False, **everything}
    yield nested, {"input_size": (2, 4), **everything}
    for depth in range(4):
        yield nested, {"input_size": (2, 4), "depth": depth, "col_names": COLUMNS}
    yield nested, {"depth": 1, "row_settings": ("var_names", "depth", "ascii_only")}
    yield shared, {"input_size": (1, 3), **everything}
    yield shared, {"verbose": 2}
    yield shared, {"input_size": (1, 3), "row_settings": ("hide_recursive_layers",)}
    yield listed, {"input_size": (2, 4), **everything}
    yield listed, {"input_size": (2, 4), "depth": 1, "col_names": COLUMNS}
    yield listed, {"input_data": base[:2], "row_settings": ("hide_recursive_layers", "depth")}
    yield listed, {}
    yield several, {"input_size": [(2, 3), (2, 5)], "col_names": COLUMNS}
    yield several, {"input_size": ((3,), (5,)), "batch_dim": 0, "flip": True}
    yield several, {"input_data": named, "col_names": COLUMNS, "flip": True}
    yield mapping, {"input_data": [batch], **everything}
    yield lazy, {"col_names": ("num_params", "trainable", "kernel_size")}
    yield lazy, {"input_size": (2, 3, 8), **everything}
    yield pruned, {"input_size": (4, 10), **everything}
    yield kinds, {"input_size": (2, 3, 7, 7), "col_names": COLUMNS, "depth": 1}
    yield kinds, {"input_size": (200, 3, 7, 7), "row_settings": (), "depth": 0}
    yield recurrent, {"input_size": (5, 2, 4), **everything}
    yield recurrent, {"input_size": (5, 4), "batch_dim": 1, "col_names": COLUMNS}
