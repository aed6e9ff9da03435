"""Fixtures shared by the test modules."""

pytest_plugins = ("toy",)
