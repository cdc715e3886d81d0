"""Random numbers as PyTorch's CPU generator draws them, on NumPy arrays."""

BLOCK = 16  # normal numbers made at once: of eight radii and eight angles
BLOCKS = 1500  # worked on at a time: what is in between stays in the cache
