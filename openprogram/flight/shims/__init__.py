"""Shims: what stands in the place of a declared function, and asks the crossing."""
