"""The distances, where PyTorch has them."""

from tapegrad.nn import CosineSimilarity, PairwiseDistance

__all__ = ["CosineSimilarity", "PairwiseDistance"]
