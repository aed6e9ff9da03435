"""How a rule announces itself, what it may ask, and how its findings and fixes are made."""
