"""A small GPT learns to write Python's documentation, character by character.

    python examples/gpt.py --steps 1000 --seed 0

The text is that of `help()`, which comes with Python, each version with its own. The figure is the
loss on text that was held back, in nats per character; a guess at random would have 4.5. That of
the README is for the text of Python 3.11.

Source: Vaswani et al., "Attention Is All You Need", 2017; Radford et al., "Language Models are
Unsupervised Multitask Learners", 2019 (normalisation before each part, GELU).
"""

import argparse
import math
from pydoc_data.topics import topics

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn import functional as F

LAYERS, HEADS, WIDTH, CONTEXT = 4, 4, 128, 64
BATCH = 16
RATE, WARMUP = 2e-3, 50
SAMPLE = 400  # characters that it writes in the end
HELD_BACK = 512  # windows of the text held back, for the figure


class Attention(nn.Module):
    """Each place looks at itself and the places before it."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):  # (N, T, C)
        n, t, _ = x.shape
        heads = self.qkv(x).view(n, t, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4)  # each (N, H, T, C / H)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(n, t, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.token = nn.Embedding(vocabulary, WIDTH)
        self.place = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, vocabulary, bias=False)
        self.apply(self._start)

    @staticmethod
    def _start(module):
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)

    def forward(self, tokens):  # (N, T)
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))  # (N, T, V)

    @torch.no_grad()
    def write(self, tokens, n):
        """`tokens` (1, T) and `n` more, each drawn from what the model expects."""
        for _ in range(n):
            scores = self(tokens[:, -CONTEXT:])[:, -1]
            token = torch.multinomial(scores.softmax(dim=1), 1)
            tokens = torch.cat((tokens, token), dim=1)
        return tokens


def loss_of(model, windows):
    """The mean loss of the next character over windows (N, CONTEXT + 1)."""
    scores = model(windows[:, :-1])
    return F.cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten())


@torch.no_grad()
def validate(model, tokens, n):
    """The loss on `n` windows spread evenly over `tokens`."""
    starts = torch.linspace(0, len(tokens) - CONTEXT - 1, n).long()
    windows = tokens[starts[:, None] + torch.arange(CONTEXT + 1)]
    return sum(loss_of(model, part).item() * len(part) for part in windows.split(64)) / n


def train(steps=1000, seed=0, compiled=False):
    """Train for `steps`; the model, its loss on text held back, the loss of each step."""
    torch.manual_seed(seed)
    text = "\n".join(topics[name] for name in sorted(topics))
    text = text.encode("ascii", "ignore").decode()  # can be printed everywhere
    letters = sorted(set(text))
    code = {letter: i for i, letter in enumerate(letters)}
    tokens = torch.tensor([code[letter] for letter in text])
    train_tokens, held_back = tokens.split([len(tokens) * 9 // 10, -(-len(tokens) // 10)])

    model = GPT(len(letters))
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{len(text):,} characters, {len(letters)} of them distinct; {n_parameters:,} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.99))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda i: min((i + 1) / WARMUP, 0.55 + 0.45 * math.cos(math.pi * i / max(steps, 1))),
    )

    def step(windows):
        loss = loss_of(model, windows)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    if compiled:
        step = torch.compile(step)
    losses = []
    for done in range(1, steps + 1):
        starts = torch.randint(len(train_tokens) - CONTEXT, (BATCH, 1))
        losses.append(step(train_tokens[starts + torch.arange(CONTEXT + 1)]).item())
        rate.step()
        if done % max(steps // 20, 1) == 0:
            print(f"step {done} of {steps}: loss {losses[-1]:.4f}", flush=True)

    start = torch.tensor([[code["\n"]]])
    print("".join(letters[i] for i in model.write(start, SAMPLE)[0].tolist()), "\n")
    return model, validate(model, held_back, HELD_BACK), losses


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="compile the training step")
    options = parser.parse_args(argv)
    _, loss, _ = train(options.steps, options.seed, options.compile)
    print(f"validation loss after {options.steps} steps: {loss:.3f} nats per character")


if __name__ == "__main__":
    main()
