"""Operators that read and write at indices, masks and places."""
