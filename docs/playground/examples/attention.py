# One block of a transformer; unfold its attention.
import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph

torch.manual_seed(0)
block = nn.TransformerEncoderLayer(d_model=16, nhead=4, dim_feedforward=64, batch_first=True)
words = torch.randn(2, 5, 16, requires_grad=True)
out = block(words)
print(out.shape)

loss = nn.functional.mse_loss(out, torch.randn(2, 5, 16))
graph(loss, gradients=True, title="a block of a transformer").show()
