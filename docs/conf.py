"""The built site: `pip install -e '.[docs]' && sphinx-build -W docs build/docs`. It needs no network.

The pages are plain Markdown, which a code host shows as well. What only the site has is made here: the table of
contents, from the lists of the index; the README and the changes, which lie outside of this folder; the diagrams, as
SVG; and the reference of the public names, from their docstrings.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from importlib.metadata import version as version_of

from docs.site_parts import add_to

project = "Dragoman"
author = "the authors of Dragoman"
version = release = version_of("dragoman")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
exclude_patterns = ["generate"]
html_theme = "furo"
html_title = f"Dragoman {release}"
html_copy_source = False
nitpicky = True
# A type such as `bytes` in a signature is looked for among attributes of that name, of which there are two.
suppress_warnings = ["ref.python"]
nitpick_ignore_regex = [
    # Names of other packages, of the parts that are not public, and of type variables.
    (r"py:.*", r"(?!dragoman\.[A-Z]).*"),
]

myst_heading_anchors = 3
myst_fence_as_directive = ["mermaid"]

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}

setup = add_to
