"""What every floor above stands on: dtypes, shapes, errors, random streams. No tensors yet."""
