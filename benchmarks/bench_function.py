"""Custom functions: what one call of `autograd.Function` costs, forward and backward."""

from row import TORCH, Row, ratio

N = 1_000


def product(torch):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return x * w

        @staticmethod
        def backward(ctx, g):
            (w,) = ctx.saved_tensors
            return g * w, None

    return Product.apply


def chain(torch):
    apply = product(torch)
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([1.0, 0.999, 1.001])

    def step():
        y = x
        for _ in range(N):
            y = apply(y, w)
        y.sum().backward()

    return step


def chain_by_hand(np):
    x = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    w = np.array([1.0, 0.999, 1.001], dtype=np.float32)

    def step():
        y, g = x, np.ones(3, dtype=np.float32)
        for _ in range(N):
            y = y * w
        for _ in range(N):
            g = g * w

    return step


ROWS = [
    Row(
        "function",
        "1,000 calls of a custom function in a chain, 3 elements, forward and backward",
        chain,
        chain_by_hand,
        count=N,
        repeats=15,
        bounds=(ratio(TORCH, 1),),
    )
]
