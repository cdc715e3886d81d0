"""The two-layer network of the tutorials: matrix products of a realistic size, updated by hand."""

from row import NUMPY, TORCH, Row, ratio

BATCH, D_IN, HIDDEN, D_OUT = 64, 1000, 100, 10
ITERATIONS = 100
RATE = 1e-6


def network(torch):
    torch.manual_seed(0)
    X = torch.randn(BATCH, D_IN)
    Y = torch.randn(BATCH, D_OUT)
    W1_start = torch.randn(D_IN, HIDDEN)
    W2_start = torch.randn(HIDDEN, D_OUT)

    def step():
        W1 = W1_start.clone().requires_grad_()
        W2 = W2_start.clone().requires_grad_()
        losses = []
        for _ in range(ITERATIONS):
            y_hat = X.mm(W1).clamp(min=0).mm(W2)
            loss = (y_hat - Y).pow(2).sum()
            losses.append(loss.item())
            loss.backward()
            with torch.no_grad():
                W1 -= RATE * W1.grad
                W2 -= RATE * W2.grad
                W1.grad.zero_()
                W2.grad.zero_()

    return step


def network_by_hand(np):
    normal = np.random.default_rng(0).standard_normal
    X = normal((BATCH, D_IN), dtype=np.float32)
    Y = normal((BATCH, D_OUT), dtype=np.float32)
    W1_start = normal((D_IN, HIDDEN), dtype=np.float32)
    W2_start = normal((HIDDEN, D_OUT), dtype=np.float32)

    def step():
        W1, W2 = W1_start.copy(), W2_start.copy()
        losses = []
        for _ in range(ITERATIONS):
            h = X.dot(W1)
            h_relu = np.maximum(h, 0)
            y_hat = h_relu.dot(W2)
            losses.append(np.square(y_hat - Y).sum())
            grad_y_hat = 2.0 * (y_hat - Y)
            grad_W2 = h_relu.T.dot(grad_y_hat)
            grad_h = grad_y_hat.dot(W2.T)
            grad_h[h < 0] = 0
            grad_W1 = X.T.dot(grad_h)
            W1 -= RATE * grad_W1
            W2 -= RATE * grad_W2

    return step


ROWS = [
    Row(
        "network",
        "two-layer network, 64x1000 input, 100 hidden, 10 out, sum of squares, manual SGD",
        network,
        network_by_hand,
        count=ITERATIONS,
        per="iteration",
        repeats=21,
        bounds=(ratio(TORCH, 0.68), ratio(NUMPY, 1.15)),
    )
]
