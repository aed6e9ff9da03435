"""From what a program said while it ran to the finding that explains it: logs, errors, NaN."""
