"""tfnanlint: finds and repairs numerical hazards in TensorFlow source code."""

__version__ = "0.1.0"
