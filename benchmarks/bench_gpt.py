"""A training step of a small GPT, a language model of characters."""

from bench_training import both, training

VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH, BATCH = 65, 64, 4, 4, 128, 16


def gpt(torch, by_hand=False):
    """4 layers, 4 heads, 128 wide, context 64: nanoGPT's configuration for a CPU.

    `by_hand` writes attention as a softmax between two products instead of calling the operator.
    """
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
            self.out = nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
            self.register_buffer("past", torch.ones(CONTEXT, CONTEXT).tril() > 0)

        def attend(self, x):
            n, t, _ = x.shape
            heads = (
                part.view(n, t, HEADS, WIDTH // HEADS).transpose(1, 2)  # (N, H, T, D)
                for part in self.qkv(x).split(WIDTH, dim=2)
            )
            if by_hand:
                q, k, v = heads
                scores = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5  # (N, H, T, T)
                y = scores.masked_fill(~self.past, float("-inf")).softmax(dim=-1) @ v
            else:
                y = F.scaled_dot_product_attention(*heads, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(n, t, WIDTH))

        def forward(self, x):  # (N, T, C)
            x = x + self.attend(self.norm1(x))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.token = nn.Embedding(VOCABULARY, WIDTH)
            self.place = nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, tokens):  # (N, T)
            x = self.token(tokens) + self.place(torch.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x)))  # (N, T, V)

    def loss_of(scores, targets):
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    torch.manual_seed(0)
    text = torch.randint(0, VOCABULARY, (BATCH, CONTEXT + 1))
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return training(model, optimizer, loss_of, text[:, :-1], text[:, 1:])


def gpt_by_hand(torch):
    return gpt(torch, by_hand=True)


TITLE = "character GPT: 4 layers, 4 heads, 128 wide, context 64, AdamW, batch 16"
TITLE_BY_HAND = f"{TITLE}, attention by hand"
ROWS = [*both(gpt, TITLE, 3, 1.15, 1.15, 0.9), *both(gpt_by_hand, TITLE_BY_HAND, 3, 1.0, 1.15, 0.9)]
