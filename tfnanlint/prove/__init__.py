"""Proof by execution: the slice of a finding, a witness that breaks it, and the repaired slice."""
