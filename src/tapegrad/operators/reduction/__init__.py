"""Operators that reduce, accumulate or rank along dimensions."""
