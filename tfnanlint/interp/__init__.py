"""The interpreter: evaluates expressions backwards on demand, across functions and files."""
