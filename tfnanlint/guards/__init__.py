"""Tests, clips and choices that exclude a hazard or hide its result."""
