"""Activity analysis: whether a gradient is taken through a site.

`activity` decides, by what the others read: `tapes` and `layer_functions` of what is
differentiated, `roles` of the calls that hand functions on, `inactive` of what no gradient flows
through. What a function's name says is in `conventions/roles.py`.
"""
