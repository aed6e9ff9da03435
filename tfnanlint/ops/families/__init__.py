"""The rows of the table, one family of operations a file."""
