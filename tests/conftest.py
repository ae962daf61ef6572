"""What holds for the whole suite.

Properties are held against few examples in each run, and against many with a profile of its own:

    pytest --hypothesis-profile thorough
"""

from __future__ import annotations

import gc

from hypothesis import settings

settings.register_profile("suite", max_examples=50)
settings.register_profile("thorough", max_examples=1_000)
settings.load_profile("suite")


def pytest_collection_finish() -> None:
    """The tests stay to the end: the collector of cyclic garbage need not look at thousands of them again and again."""
    gc.collect()
    gc.freeze()
