"""Forward mode: what one small operator costs with a tangent on both sides."""

from row import TORCH, Row, ratio

N = 1_000
ROUNDS = 10  # chains in a sample


def chain(torch):
    forward_ad = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0, 3.0])
    w = torch.tensor([1.0, 0.999, 1.001])
    ones = torch.ones(3)

    def step():
        for _ in range(ROUNDS):
            with forward_ad.dual_level():
                y, factor = forward_ad.make_dual(x, ones), forward_ad.make_dual(w, ones)
                for _ in range(N):
                    y = y * factor
                forward_ad.unpack_dual(y)

    return step


def chain_by_hand(np):
    x = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    w = np.array([1.0, 0.999, 1.001], dtype=np.float32)
    ones = np.ones(3, dtype=np.float32)

    def step():
        for _ in range(ROUNDS):
            y, t = x, ones
            for _ in range(N):
                y, t = y * w, t * w + ones * y

    return step


def chain_of_one(torch):
    x = torch.tensor([1.0, 2.0, 3.0])
    w = torch.tensor([1.0, 0.999, 1.001])
    ones = torch.ones(3)

    def f(x):
        for _ in range(N // 4):
            x = (x * w).sin() + w
            x = x * 0.5
        return x

    def step():
        torch.func.jvp(f, (x,), (ones,))

    return step


ROWS = [
    Row(
        "forward_mode",
        "1,000 multiplications in a chain, 3 elements of float32, both factors with a tangent",
        chain,
        chain_by_hand,
        count=ROUNDS * N,
        repeats=15,
        bounds=(ratio(TORCH, 0.5),),
    ),
    Row(
        "jvp",
        "func.jvp of 1,000 operators in a chain: x*w, sin, + w, * 0.5, of 3 elements",
        chain_of_one,
        count=N,
        repeats=7,
        bounds=(ratio(TORCH, 0.5),),
    ),
]
