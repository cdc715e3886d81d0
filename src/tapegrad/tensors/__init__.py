"""The class `Tensor`, its methods, its array namespace, and how it prints."""
