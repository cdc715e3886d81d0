"""The embeddings, where PyTorch has them."""

from tapegrad.nn import Embedding, EmbeddingBag

__all__ = ["Embedding", "EmbeddingBag"]
