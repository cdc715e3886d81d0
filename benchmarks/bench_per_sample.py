"""Gradients of each sample by vmap(grad), and a gradient penalty, which is a double backward."""

from row import TORCH, Row, ratio

ROUNDS = 5
BATCH, D_IN, HIDDEN, D_OUT = 64, 32, 64, 10


def per_sample(torch):
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(D_IN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, D_OUT))
    xs = torch.randn(BATCH, D_IN)
    ys = torch.randint(0, D_OUT, (BATCH,))
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters, x, y):
        scores = torch.func.functional_call(model, parameters, (x,))
        return nn.functional.cross_entropy(scores, y)

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))

    def step():
        for _ in range(ROUNDS):
            gradients(parameters, xs, ys)

    return step


def critic_step(torch):
    """The critic's step of a Wasserstein GAN with gradient penalty (Gulrajani et al., 2017)."""
    torch.manual_seed(0)
    nn = torch.nn
    critic = nn.Sequential(
        nn.Linear(D_IN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(),
        nn.Linear(HIDDEN, 1),
    )  # fmt: skip
    optimizer = torch.optim.SGD(critic.parameters(), lr=1e-3)
    real, fake = torch.randn(BATCH, D_IN), torch.randn(BATCH, D_IN)
    share = torch.rand(BATCH, 1)

    def step():
        between = (share * real + (1 - share) * fake).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        gap = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * gap
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def penalty(torch):
    step = critic_step(torch)

    def steps():
        for _ in range(ROUNDS):
            step()

    return steps


ROWS = [
    Row(
        "per_sample",
        "gradients of each of 64 samples of a 32-64-10 network, vmap(grad)",
        per_sample,
        count=ROUNDS,
        per="call",
        repeats=15,
        bounds=(ratio(TORCH, 0.7),),
    ),
    Row(
        "gradient_penalty",
        "step of a critic of 32-64-64-1 with gradient penalty, batch 64, SGD",
        penalty,
        count=ROUNDS,
        per="step",
        repeats=15,
        bounds=(ratio(TORCH, 0.8),),
    ),
]
