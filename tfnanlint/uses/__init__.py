"""Where values go: uses of what an operation gives, and what may have produced it."""
