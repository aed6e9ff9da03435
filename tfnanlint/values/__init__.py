"""The abstract domain: intervals with float semantics, joins and widening, and the evaluator's
interface.
"""
