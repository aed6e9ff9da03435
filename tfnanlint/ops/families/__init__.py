"""The rows of functions of tensors and of Python, one family of operations a file."""
