"""Channels dealt out to groups."""

from tapegrad.nn import functional as F
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Channels dealt out: the first of each of `groups` groups, then the second of each.

    Source: Zhang et al., ShuffleNet, 2018.

    >>> torch.nn.ChannelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    __constants__ = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
