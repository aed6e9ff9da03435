"""Explains the NaN of logs, errors and running programs by findings."""
