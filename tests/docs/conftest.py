"""Makes the folder `docs/` importable: it is no part of the installed package, and the checkout no path of it."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "docs"

if "docs" not in sys.modules:
    spec = spec_from_file_location("docs", _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)])
    assert spec is not None
    assert spec.loader is not None
    sys.modules["docs"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
