"""Where values go: the uses of a result, and the operations that may have produced a value."""
