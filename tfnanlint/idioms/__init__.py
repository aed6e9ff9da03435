"""Computations recognised by what they mean: probabilities, moments, counts, losses."""
