"""The version of tfnanlint, in a module that any package may import."""

__version__ = "0.1.0"
