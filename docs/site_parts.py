"""What the built site has beyond the plain pages; see `conf`."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import dragoman

from .generate.drawing import draw

__all__ = ["add_to", "contents", "on_site"]

_OUTSIDE = {"../README.md": "site/readme.md", "../CHANGELOG.md": "site/changes.md"}
"""The files beside this folder, and the pages of the site that hold them."""


def on_site(text: str) -> str:
    """A page whose links to the files beside this folder lead to the pages that hold them."""
    for outside, page in _OUTSIDE.items():
        text = text.replace(f"]({outside}", f"]({page}")
    return text


def contents(index: str) -> str:
    """The tables of contents that the lists of the index make, one for each of its headings."""
    found = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        caption, _, body = section.partition("\n")
        pages = re.findall(r"^- \[[^\]]*\]\(([\w/-]+)\.md\)", body, re.MULTILINE)
        if pages:
            found.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]))
    return "\n".join(found)


def _read(_app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = on_site(source[0])
    if docname == "index":
        source[0] += "\n" + contents(source[0])


class _Mermaid(Directive):
    """A state diagram, drawn; HTML only."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        return [nodes.raw("", draw(text), format="html")]


def _resolve(_app: Sphinx, _env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement) -> Any:
    """A name in an annotation stands under its module; the page has it as the public name."""
    name = node["reftarget"].rpartition(".")[2]
    if node["refdomain"] != "py" or name not in dragoman.__all__ or node["reftarget"] == f"dragoman.{name}":
        return None
    domain = _env.domains["py"]
    return domain.resolve_xref(_env, node["refdoc"], _app.builder, "obj", f"dragoman.{name}", node, shown)


def add_to(app: Sphinx) -> None:
    """What `conf` is for Sphinx: an extension."""
    app.add_directive("mermaid", _Mermaid)
    app.connect("source-read", _read)
    app.connect("missing-reference", _resolve)
