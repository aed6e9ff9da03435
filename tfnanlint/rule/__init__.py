"""How a rule is registered, what it may ask, and how its findings and fixes are made.

`registry` holds what a rule announces (`rule`, `Rule`) and asks (`Context`), `trace` writes the
trace of a finding. The other modules make repairs; what they repair is recognised in `idioms`, in a
module of the same name where there is one.
"""
