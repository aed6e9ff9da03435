"""The program as definitions: scopes, branches, loops, functions, classes, refinement at tests."""
