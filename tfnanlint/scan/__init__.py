"""Scanning more code than one run of `check` reads: inputs, parts that survive, and adapters."""
