"""Calls of activations, losses and layers, as in `calls.py`."""

from tests.laws.calls import Group, integers, mask, uniform

ACTIVATION = Group(
    "activations",
    """
    F.relu(x)
    F.relu6(x)
    F.leaky_relu(x)
    F.elu(x)
    F.celu(x)
    F.selu(x)
    F.gelu(x)
    F.gelu(x, approximate="tanh")
    F.silu(x)
    F.mish(x)
    F.softplus(x)
    F.softsign(x)
    F.hardtanh(x)
    F.hardsigmoid(x)
    F.hardswish(x)
    F.hardshrink(x)
    F.softshrink(x)
    F.tanhshrink(x)
    F.threshold(x, 0.1, 0.0)
    F.logsigmoid(x)
    F.glu(x)
    F.prelu(x, w)
    F.rrelu(x)
    F.rrelu(x, training=True)
    F.softmax(x, 1)
    F.softmax(x, 0)
    F.log_softmax(x, 1)
    F.softmin(x, 1)
    F.gumbel_softmax(x)
    F.normalize(x)
    F.dropout(x)
    F.alpha_dropout(x, training=True)
    F.feature_alpha_dropout(x, training=True)
    """,
    x=uniform(32, 48, low=-2.0, high=2.0),
    w=uniform(48),
)

LOSS = Group(
    "losses",
    """
    F.mse_loss(x, p)
    F.mse_loss(x, y)
    F.mse_loss(x, p, reduction="none")
    F.l1_loss(x, p)
    F.smooth_l1_loss(x, p)
    F.huber_loss(x, p)
    F.cross_entropy(x, k)
    F.linear_cross_entropy(x, w, k)
    F.cross_entropy(x, k, label_smoothing=0.1)
    F.cross_entropy(x, k, p[0])
    F.cross_entropy(x, p)
    F.cross_entropy(x, k, reduction="none")
    F.nll_loss(x, k)
    F.binary_cross_entropy(x, p)
    F.binary_cross_entropy_with_logits(x, p)
    F.binary_cross_entropy_with_logits(x, p, pos_weight=p[0])
    F.kl_div(x, p)
    F.kl_div(x, p, log_target=True)
    F.cosine_embedding_loss(x, y, s)
    F.margin_ranking_loss(x[:, 0], y[:, 0], s)
    F.hinge_embedding_loss(x, (p > 0.5) * 2 - 1)
    F.soft_margin_loss(x, p)
    F.triplet_margin_loss(x, y, p)
    F.poisson_nll_loss(x, p)
    F.triplet_margin_with_distance_loss(x, y, p)
    F.poisson_nll_loss(x, p, log_input=False)
    F.gaussian_nll_loss(x, p, y)
    F.multi_margin_loss(x, k)
    F.multilabel_margin_loss(x, n)
    F.multilabel_soft_margin_loss(x, p)
    F.ctc_loss(F.log_softmax(u, -1), c, torch.full((4,), 20), torch.full((4,), 5))
    F.cosine_similarity(x, y)
    F.pairwise_distance(x, y)
    F.pdist(x)
    """,
    x=uniform(32, 48),
    y=uniform(32, 48),
    w=uniform(48, 48),
    u=uniform(20, 4, 12),
    constants={
        "p": uniform(32, 48),
        "k": integers(32, high=48),
        "n": integers(32, 48, high=48),
        "c": lambda rng: rng.integers(1, 12, (4, 5)),
        "s": lambda rng: rng.integers(0, 2, 32) * 2 - 1,
    },
)

NORM = Group(
    "normalisation",
    """
    F.layer_norm(x, (12, 10), u, v)
    F.layer_norm(x, (12, 10))
    F.rms_norm(x, (10,), w)
    F.batch_norm(x, None, None, a, b, training=True)
    F.batch_norm(x, m.clone(), n.clone(), a, b, training=True)
    F.batch_norm(x, m, n, a, b)
    F.batch_norm(x, None, None, training=True)
    F.group_norm(x, 2, a, b)
    F.instance_norm(x, weight=a, bias=b)
    F.local_response_norm(x, 3)
    """,
    x=uniform(4, 8, 12, 10),
    a=uniform(8),
    b=uniform(8),
    u=uniform(12, 10),
    v=uniform(12, 10),
    w=uniform(10),
    constants={"m": uniform(8), "n": uniform(8)},
)

CONVOLUTION = Group(
    "convolution",
    """
    F.conv1d(x[:, :, 0], w[:, :, 0], b)
    F.conv2d(x, w, b)
    F.conv2d(x, w, b, padding=1)
    F.conv2d(x, w, b, stride=2, padding=1)
    F.conv2d(x, w, padding="same")
    F.conv2d(x, w, dilation=2)
    F.conv2d(x, g, groups=8)
    F.conv2d(x, e)
    F.conv3d(x[:, :, None], w[:, :, None], b)
    F.conv_transpose1d(x[:, :, 0], w.transpose(0, 1)[:, :, 0])
    F.conv_transpose2d(x, w.transpose(0, 1).contiguous(), stride=2)
    F.conv_transpose3d(x[:, :, None], w.transpose(0, 1)[:, :, None].contiguous())
    F.unfold(x, 3)
    F.fold(F.unfold(x, 3), (12, 10), 3)
    """,
    x=uniform(4, 8, 12, 10),
    w=uniform(6, 8, 3, 3),
    g=uniform(8, 1, 3, 3),
    e=uniform(6, 8, 1, 1),
    b=uniform(6),
)

IMAGE = Group(
    "pooling and images",
    """
    F.max_pool1d(x[:, :, 0], 2)
    F.max_pool2d(x, 2)
    F.max_pool2d(x, 3, 2, 1)
    F.max_pool2d(x, 2, return_indices=True)
    F.max_pool3d(x[:, None], 2)
    F.avg_pool1d(x[:, :, 0], 2)
    F.avg_pool2d(x, 2)
    F.avg_pool3d(x[:, None], 2)
    F.lp_pool2d(x, 2, 2)
    F.adaptive_avg_pool1d(x[:, :, 0], 4)
    F.adaptive_avg_pool2d(x, 4)
    F.adaptive_avg_pool2d(x, 1)
    F.adaptive_avg_pool3d(x[:, None], 2)
    F.adaptive_max_pool1d(x[:, :, 0], 4)
    F.adaptive_max_pool2d(x, 4)
    F.adaptive_max_pool3d(x[:, None], 2)
    F.fractional_max_pool2d(x, 2, 4)
    F.fractional_max_pool3d(x[:, None], 2, 3)
    F.max_unpool1d(*F.max_pool1d(x[:, :, 0], 2, return_indices=True), 2)
    F.upsample_nearest(x, scale_factor=2)
    F.upsample_bilinear(x, scale_factor=2)
    F.dropout3d(x[:, None])
    F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)
    F.pad(x, (1, 2, 3, 4))
    F.pad(x, (1, 2, 3, 4), "reflect")
    F.pad(x, (1, 2, 3, 4), "replicate")
    F.pad(x, (1, 2, 3, 4), "circular")
    F.interpolate(x, scale_factor=2)
    F.interpolate(x, scale_factor=2, mode="bilinear")
    F.interpolate(x, scale_factor=2, mode="bicubic")
    F.interpolate(x, size=(5, 5), mode="area")
    F.interpolate(x, size=(5, 5), mode="bilinear", antialias=True)
    F.grid_sample(x, g, align_corners=False)
    F.affine_grid(t, (4, 8, 12, 10), align_corners=False)
    F.pixel_shuffle(x, 2)
    F.pixel_unshuffle(x, 2)
    F.channel_shuffle(x, 2)
    F.dropout2d(x)
    """,
    x=uniform(4, 8, 12, 10),
    g=uniform(4, 6, 6, 2, low=-1.0),
    t=uniform(4, 2, 3),
)

EMBEDDING = Group(
    "embedding",
    """
    F.embedding(i, w)
    F.embedding(i, w, padding_idx=0)
    F.embedding_bag(i, w)
    F.embedding_bag(i, w, mode="sum")
    F.embedding_bag(i, w, mode="max")
    F.embedding_bag(i, w, mode="sum", per_sample_weights=s)
    """,
    w=uniform(100, 16),
    s=uniform(12, 20),
    constants={"i": integers(12, 20, high=100)},
)

ATTENTION = Group(
    "attention",
    """
    F.scaled_dot_product_attention(q, k, v)
    F.scaled_dot_product_attention(q, k, v, is_causal=True)
    F.scaled_dot_product_attention(q, k, v, attn_mask=m)
    F.scaled_dot_product_attention(q, k, v, dropout_p=0.2)
    """,
    q=uniform(2, 4, 24, 16),
    k=uniform(2, 4, 24, 16),
    v=uniform(2, 4, 24, 16),
    constants={"m": mask(24, 24)},
)

MULTI_HEAD = Group(
    "multi-head attention",
    """
    F.multi_head_attention_forward(x, x, x, 16, 4, w, b, None, None, False, 0, o, c)
    """,
    x=uniform(12, 3, 16),
    w=uniform(48, 16),
    b=uniform(48),
    o=uniform(16, 16),
    c=uniform(16),
)

LONG_ATTENTION = Group(
    "attention over long sequences",
    """
    F.scaled_dot_product_attention(q, k, v)
    F.scaled_dot_product_attention(q, k, v, is_causal=True)
    F.scaled_dot_product_attention(q, k, v, attn_mask=m)
    """,
    q=uniform(1, 2, 640, 16),
    k=uniform(1, 2, 640, 16),
    v=uniform(1, 2, 640, 16),
    constants={"m": mask(1, 1, 1, 640)},
)

LARGE = Group(
    "arrays worth blocks and threads",
    """
    x * y
    x / y
    x.exp()
    x.sigmoid()
    x.clamp(0.2, 0.8)
    x.lerp(y, 0.3)
    x.addcmul(x, y)
    torch.where(x > y, x, y)
    x.sum(1)
    x.var(1)
    x.amax(1)
    x.sort(1)
    x.cumsum(1)
    x.logsumexp(1)
    F.relu(x)
    F.leaky_relu(x)
    F.gelu(x)
    F.silu(x)
    F.softplus(x)
    F.softmax(x, 1)
    F.log_softmax(x, 1)
    F.dropout(x)
    F.layer_norm(x, (400,), x[0], y[0])
    F.mse_loss(x, y)
    F.smooth_l1_loss(x, y)
    F.binary_cross_entropy(x, y.detach())
    F.binary_cross_entropy_with_logits(x, y.detach())
    x @ y
    """,
    x=uniform(400, 400),
    y=uniform(400, 400),
)
