"""The array namespace of the meta device: rules of shapes, by family."""
