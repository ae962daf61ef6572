"""Makes the folder `docs/` importable: it is no part of the installed package, and the checkout no path of it."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "docs"

if "docs" not in sys.modules:
    spec = ModuleSpec("docs", None, is_package=True)
    spec.submodule_search_locations = [str(_FOLDER)]
    sys.modules["docs"] = module_from_spec(spec)
