"""The old place of `fully_shard`."""
