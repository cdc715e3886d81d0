"""The lowest floor: dtypes, shapes, errors, random streams. No tensors yet."""
