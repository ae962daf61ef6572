"""What html5lib sees in a page: an HTML parser that shares nothing with ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import html5lib

from dragoman.documents.html import HtmlDocument

__all__ = ["texts", "translated", "untouched", "without_texts"]

_RAW = {"iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "xmp"}
_NO_PROSE = {"applet", "audio", "canvas", "code", "kbd", "listing", "object", "pre", "samp", "template", "var", "video"}
_Node = Any


def _tree(page: str | bytes) -> _Node:
    if isinstance(page, bytes):
        return html5lib.parse(page, treebuilder="etree", likely_encoding="utf-8")
    return html5lib.parse(page, treebuilder="etree")


def _is_translated(element: _Node, around: bool) -> bool:
    namespace, _, name = element.tag.rpartition("}")
    is_html = not namespace.endswith(("svg", "MathML"))
    if is_html and name in _RAW:
        return False
    mark = element.attrib.get("translate", "").lower() if "translate" in element.attrib else None
    if mark in ("", "yes"):
        return True
    if mark == "no" or "notranslate" in element.attrib.get("class", "").split():
        return False
    if name in (_NO_PROSE if is_html else {"svg", "math"}):
        return False
    return around


def _walk(page: str | bytes) -> Iterator[tuple[str, bool]]:
    """Each text node, and whether it is to be translated."""
    waiting: list[tuple[_Node, bool]] = [(_tree(page), True)]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, str):
            yield node, around
        elif isinstance(node.tag, str):
            inside = _is_translated(node, around)
            below: list[tuple[_Node, bool]] = [(node.text or "", inside)]
            for child in node:
                below += [(child, inside), (child.tail or "", inside)]
            waiting += reversed(below)


def texts(page: str | bytes) -> list[str]:
    """The text nodes that are to be translated."""
    return [text for text, is_translated in _walk(page) if is_translated]


def untouched(page: str | bytes) -> list[str]:
    """The text nodes that are not; white space between them is not told."""
    return [text for text, is_translated in _walk(page) if not is_translated and text.strip()]


def without_texts(page: str | bytes) -> list[object]:
    """The tree with its elements, attributes and comments, and no text."""
    seen: list[object] = []
    waiting: list[_Node] = [_tree(page)]
    while waiting:
        node = waiting.pop()
        if node is None:
            seen.append("/")
            continue
        is_element = isinstance(node.tag, str)
        seen.append((node.tag, tuple(sorted(node.attrib.items()))) if is_element else ("#", node.text))
        waiting += [None, *reversed(list(node))]
    return seen


def translated(document: HtmlDocument, mark: str = "Ж") -> bytes:
    """The page with every word of every parent marked."""
    for parent_id, segments in document.parents.items():
        marked = tuple(" ".join(word + mark if word else "" for word in text.split(" ")) for text in segments)
        for replacement in document.dispatch(parent_id, marked):
            replacement.apply()
    return document.render()
