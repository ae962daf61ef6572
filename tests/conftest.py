"""How many examples a property is held against: few in each run of the suite, many with a profile of its own.

pytest --hypothesis-profile thorough
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("suite", max_examples=50)
settings.register_profile("thorough", max_examples=1_000)
settings.load_profile("suite")
