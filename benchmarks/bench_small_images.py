"""Networks whose images become small: what a convolution costs beyond its products."""

import compiling
from bench_training import row, training

BATCH, CLASSES = 16, 10


def _classified(torch, net, *shape):
    torch.manual_seed(0)
    net = net()
    x, y = torch.randn(BATCH, *shape), torch.randint(0, CLASSES, (BATCH,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    return training(net, optimizer, torch.nn.CrossEntropyLoss(), x, y)


def deep(torch):
    """Blocks of ResNet-18 for images of 32x32: 64 channels of 16x16 to 512 of 2x2."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, channels, out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
            self.shortcut = nn.Identity()
            if stride > 1:
                self.shortcut = nn.Conv2d(channels, out, 1, stride, bias=False)

        def forward(self, x):  # (N, channels, H, W)
            y = self.norm1(self.conv1(x)).relu()
            return (self.shortcut(x) + self.norm2(self.conv2(y))).relu()

    def net():
        return nn.Sequential(
            nn.Conv2d(3, 64, 3, 2, 1),
            Block(64, 64, 1),
            Block(64, 128, 2),
            Block(128, 256, 2),
            Block(256, 512, 2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(512, CLASSES),
        )

    return _classified(torch, net, 3, 32, 32)


def mobile(torch):
    """Inverted residuals of MobileNetV2: products of channels, and depthwise kernels between."""
    nn = torch.nn

    def inverted(channels, out, stride):
        wide = 6 * channels
        return nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )

    def net():
        return nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1),
            inverted(16, 24, 2),
            inverted(24, 32, 2),
            inverted(32, 64, 2),
            inverted(64, 96, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(96, CLASSES),
        )

    return _classified(torch, net, 3, 64, 64)


def normalized(torch):
    """A perceptron with batch norm, whose channels are single numbers."""
    nn = torch.nn

    def layer(n, out):
        return nn.Sequential(nn.Linear(n, out), nn.BatchNorm1d(out), nn.ReLU())

    torch.manual_seed(0)
    net = nn.Sequential(layer(32, 128), layer(128, 128), layer(128, 128), nn.Linear(128, CLASSES))
    x, y = torch.randn(512, 32), torch.randint(0, CLASSES, (512,))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    return training(net, optimizer, nn.CrossEntropyLoss(), x, y)


_DEEP = "four blocks of ResNet-18, 16x16 to 2x2, batch 16"
_MOBILE = "four inverted residuals of MobileNetV2, 32x32 to 4x4, batch 16"
_NORMALIZED = "perceptron of 128 with batch norm, batch 512"
_STEP = {"per": "training step", "repeats": 7}
ROWS = [
    row(deep, _DEEP, 3, 1.5),
    row(mobile, _MOBILE, 3, 1.9),
    row(normalized, _NORMALIZED, 30, 1.6),
    compiling.row("deep", _DEEP, deep, 0.9, **_STEP),
    compiling.row("mobile", _MOBILE, mobile, 0.6, **_STEP),
    compiling.row("normalized", _NORMALIZED, normalized, 0.6, count=20, **_STEP),
]
