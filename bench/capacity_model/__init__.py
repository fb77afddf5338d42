"""A model of how many front ends and workers a hub needs, how long people wait, and what that costs.

It knows nothing of the hub's code: it is given what conversions and answers were measured to cost, and the
rules by which Cloud Run and Kubernetes add and remove instances, and plays days of openings. The same seed
gives the same numbers. Nothing here measures anything.
"""
