"""Scans of more code than one run of `check` reads: inputs, resumable parts, adapters."""
