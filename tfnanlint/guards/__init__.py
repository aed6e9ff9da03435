"""Tests, clips and choices that exclude a hazard or hide its result.

A rule asks for them through its `Context` (`rule/registry.py`):

* `tested`: `dominating`, a test of a value that holds where the op stands;
* `asserted`: `assertions`, a check elsewhere in the file, or a name such as `safe_norm` for what
  cannot be followed;
* `hidden`, `masked`: `post_guards`, a choice or clip after the op. `zero_sets` says which zeros a
  test of another value excludes.

`size_tests` is for rules about empty tensors. What an `if`, `assert` or `assert_positive` says of
a name stands below, in `program/predicates.py`, a clip before the op in its row of `ops/families/`:
both narrow the value itself. A helper of the program is evaluated like any function.
"""
