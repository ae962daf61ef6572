"""Planted faults over every part of the runtime, and how each of four ways of looking notices them.

No part of the installed package. `python -m tests.mutants.table` writes the table of the documentation.
"""
