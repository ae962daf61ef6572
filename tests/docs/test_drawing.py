"""State diagrams as SVG."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from docs.generate.circuit import CIRCUIT
from docs.generate.drawing import draw, parse
from docs.generate.states import Lives, diagram, tables

DRAWN = {**{name: lives for name, (_text, lives) in tables().items()}, "circuit": CIRCUIT.lives}


def source(lives: Lives) -> str:
    return diagram(lives).removeprefix("```mermaid\n").partition("```")[0]


def elements(svg: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(tag))


@pytest.mark.parametrize("lives", DRAWN.values(), ids=DRAWN.keys())
def test_every_state_event_and_arrow_is_drawn(lives: Lives) -> None:
    svg = draw(source(lives))
    _first, moves = parse(source(lives))
    words = " ".join(element.text or "" for element in elements(svg, "text"))
    for move in moves:
        for word in (move.source, move.target, *move.events):
            assert re.search(rf"\b{word}\b", words), word
    assert len(elements(svg, "path")) == len(elements(svg, "polygon")) == len(moves) + 1


@pytest.mark.parametrize("lives", DRAWN.values(), ids=DRAWN.keys())
def test_no_state_covers_another_and_all_is_inside(lives: Lives) -> None:
    svg = draw(source(lives))
    _, _, width, height = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split())
    boxes = [
        tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        for box in elements(svg, "rect")
        if "rx" in box.attrib
    ]
    assert len(boxes) == len(lives)
    for x, y, box_width, box_height in boxes:
        assert x >= 0
        assert y >= 0
        assert x + box_width <= width
        assert y + box_height <= height
    for one, other in itertools.combinations(boxes, 2):
        beside = one[0] + one[2] < other[0] or other[0] + other[2] < one[0]
        below = one[1] + one[3] < other[1] or other[1] + other[3] < one[1]
        assert beside or below


def test_a_line_that_is_not_understood_is_named() -> None:
    with pytest.raises(ValueError, match="state A"):
        draw("[*] --> A\nstate A")


def test_a_diagram_without_a_beginning_is_refused() -> None:
    with pytest.raises(ValueError, match="begins"):
        draw("A --> B: GO")


def test_a_word_of_the_source_is_no_markup() -> None:
    assert "<b>" not in draw("[*] --> A\nA --> B: <b>")
