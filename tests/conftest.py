"""Fixtures shared by the test modules."""

import os

pytest_plugins = ("toy", "runs")
# Here and in what the tests start: they replace parts of the engine, and the user's own results are
# none of theirs.
os.environ["TFNANLINT_NO_CACHE"] = "1"
# The same on a pipeline as at a desk: there tfnanlint says more on standard error and keeps no cache.
os.environ.pop("CI", None)
