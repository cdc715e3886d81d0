"""The array namespace whose arrays are tensors: derivatives of derivatives run on it."""
