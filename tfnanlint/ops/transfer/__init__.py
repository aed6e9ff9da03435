"""Transfer functions: from the values that arrive at an operation to the value that comes out."""
