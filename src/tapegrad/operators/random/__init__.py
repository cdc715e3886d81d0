"""Functions that draw random numbers."""
