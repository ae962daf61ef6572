"""A Mermaid state diagram as inline SVG, for the built site: no network, no binary, no script.

Only what `states.diagram` writes is understood: `[*] --> A` and `A --> B: EVENT, EVENT`; anything else is refused.

States stand in columns by the longest way from the first one. A move that skips columns goes through free places in
them, and one that leads back runs below everything. That is enough for the ten states that a table may have.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TypeAlias

import attrs

__all__ = ["Move", "draw", "parse"]

_LINE = re.compile(r"(?P<source>\w+) --> (?P<target>\w+): (?P<label>.+)")
_CHAR, _LINE_HEIGHT, _BOX, _ROW, _LANE, _PAD = 7.3, 15, 34, 76, 34, 12
_SMALL = 11 / 12
"""How much smaller a word beside an arrow is than the name of a state."""


@attrs.frozen
class Move:
    """One arrow. `events` are the words beside it."""

    source: str
    target: str
    events: tuple[str, ...]


@attrs.frozen
class _Label:
    """Words, one below the other, around a point."""

    x: float
    y: float
    words: tuple[str, ...]

    @property
    def size(self) -> tuple[float, float]:
        return _width(self.words) * _SMALL + 4, len(self.words) * _LINE_HEIGHT

    def overlaps(self, other: _Label) -> bool:
        (width, height), (its_width, its_height) = self.size, other.size
        return abs(self.x - other.x) < (width + its_width) / 2 and abs(self.y - other.y) < (height + its_height) / 2

    def drawn(self) -> str:
        width, height = self.size
        top = self.y - height / 2
        lines = "".join(
            f'<text x="{self.x:.0f}" y="{top + (number + 0.75) * _LINE_HEIGHT:.0f}">{escape(word)}</text>'
            for number, word in enumerate(self.words)
        )
        ground = (
            f'<rect x="{self.x - width / 2:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" stroke="none" '
            'style="fill:var(--color-background-primary, white)"/>'
        )
        return f'{ground}<g text-anchor="middle" font-size="11" fill="currentColor" stroke="none">{lines}</g>'


Chain: TypeAlias = tuple[str | tuple[int, int], ...]
"""The places that an arrow passes: its two states, and between them a free place (arrow, column) for each column."""


def parse(text: str) -> tuple[str, list[Move]]:
    """The first state, and the moves; `ValueError` names the line that is not understood."""
    first, moves = "", []
    for line in map(str.strip, text.splitlines()):
        if line in ("", "stateDiagram-v2", "direction LR"):
            continue
        move = _LINE.fullmatch(line)
        if line.startswith("[*] --> "):
            first = line.removeprefix("[*] --> ")
        elif move:
            moves.append(Move(move["source"], move["target"], tuple(move["label"].split(", "))))
        else:
            raise ValueError(f"no line of a state diagram: {line}")
    if not first:
        raise ValueError("a state diagram says where it begins")
    return first, moves


def _forward(first: str, moves: Sequence[Move]) -> list[Move]:
    """The moves without those that lead back to a state on the way to them."""
    forward: list[Move] = []
    seen: set[str] = set()

    def walk(state: str, way: tuple[str, ...]) -> None:
        seen.add(state)
        for move in moves:
            if move.source != state or move.target in way:
                continue
            forward.append(move)
            if move.target not in seen:
                walk(move.target, (*way, move.target))

    walk(first, (first,))
    return forward


def _columns(first: str, forward: Sequence[Move]) -> dict[str, int]:
    """The column of each state: how many moves the longest way to it has."""
    columns = {first: 0}
    for _ in range(len(forward) + 1):
        for move in forward:
            if move.source in columns:
                columns[move.target] = max(columns.get(move.target, 0), columns[move.source] + 1)
    return columns


def _chains(forward: Sequence[Move], columns: Mapping[str, int]) -> list[Chain]:
    return [
        (
            move.source,
            *((number, column) for column in range(columns[move.source] + 1, columns[move.target])),
            move.target,
        )
        for number, move in enumerate(forward)
    ]


def _ordered(columns: Mapping[str, int], chains: Sequence[Chain]) -> list[list[str | tuple[int, int]]]:
    """What stands in each column from above, so that arrows cross little: everything near what it is tied to."""
    layers: list[list[str | tuple[int, int]]] = [[] for _ in range(max(columns.values()) + 1)]
    for state, column in columns.items():
        layers[column].append(state)
    for chain in chains:
        for place in chain[1:-1]:
            layers[place[1]].append(place)  # type: ignore[index]
    ties: dict[str | tuple[int, int], set[str | tuple[int, int]]] = {}
    for chain in chains:
        for one, other in itertools.pairwise(chain):
            ties.setdefault(one, set()).add(other)
            ties.setdefault(other, set()).add(one)
    for sweep in range(8):
        numbers = range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        for number in numbers:
            beside = layers[number - 1 if sweep % 2 == 0 else number + 1]
            height = {place: index - (len(beside) - 1) / 2 for index, place in enumerate(beside)}

            def mean(place: str | tuple[int, int], height: Mapping[str | tuple[int, int], float] = height) -> float:
                found = [height[tied] for tied in ties.get(place, ()) if tied in height]
                return sum(found) / len(found) if found else 0.0

            layers[number].sort(key=mean)
    return layers


def _width(words: Iterable[str]) -> float:
    return max((len(word) * _CHAR for word in words), default=0.0)


def draw(text: str) -> str:
    """The diagram as an SVG element that takes its colours from the page around it."""
    first, moves = parse(text)
    forward = _forward(first, moves)
    back = [move for move in moves if move not in forward]
    columns = _columns(first, forward)
    chains = _chains(forward, columns)
    layers = _ordered(columns, chains)
    box = {state: _width((state,)) + 2 * _PAD for state in columns}
    widest = [max((box[place] for place in layer if isinstance(place, str)), default=0.0) for layer in layers]
    gaps = [
        _width(word for move in forward if columns[move.source] == number for word in move.events)
        + _PAD * (4 + sum(columns[move.source] == number for move in forward))
        for number in range(len(layers) - 1)
    ]
    lefts = [40.0]
    for column, gap in zip(widest, gaps, strict=False):
        lefts.append(lefts[-1] + column + gap)
    rows = max(map(len, layers))
    bottom = _PAD + rows * _ROW
    middle = {
        place: (lefts[number] + widest[number] / 2, _PAD + ((rows - len(layer)) / 2 + index + 0.5) * _ROW)
        for number, layer in enumerate(layers)
        for index, place in enumerate(layer)
    }
    parts = [_start(middle[first], box[first])]
    labels: list[_Label] = []
    for move, chain in zip(forward, chains, strict=True):
        halves = [(box[place] if isinstance(place, str) else widest[place[1]]) / 2 for place in chain]
        points = [(*middle[place], half) for place, half in zip(chain, halves, strict=True)]
        parts.append(_arrow(points))
        labels.append(_beside(points[0], points[1], move.events, labels))
    for lane, move in enumerate(back):
        (x, y), (to_x, to_y) = middle[move.source], middle[move.target]
        y += 10 * (lane + 0.5 - len(back) / 2)
        right = x + widest[columns[move.source]] / 2 + _PAD * (lane + 1)
        low = bottom + (lane + 0.5) * _LANE
        way = f"M{x + box[move.source] / 2:.0f},{y:.0f} H{right:.0f} V{low:.0f} H{to_x:.0f} V{to_y + _BOX / 2 + 7:.0f}"
        parts.append(f'<path d="{way}"/>{_head(to_x, to_y + _BOX / 2, up=True)}')
        labels.append(_Label((right + to_x) / 2, low, (", ".join(move.events),)))
    parts += [_state(state, *middle[state], box[state]) for state in columns]
    width, height = lefts[-1] + widest[-1] + _PAD * (len(back) + 1), bottom + len(back) * _LANE + _PAD
    return (
        f'<svg class="state-diagram" role="img" aria-label="State diagram, begins at {escape(first)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width:.0f}px;width:100%" '
        'fill="none" stroke="currentColor" stroke-width="1.2" font-family="monospace" font-size="12">'
        f"{''.join(parts)}{''.join(label.drawn() for label in labels)}</svg>"
    )


def _head(x: float, y: float, *, up: bool = False) -> str:
    corners = (
        f"{x - 4:.0f},{y + 8:.0f} {x + 4:.0f},{y + 8:.0f}" if up else f"{x - 8:.0f},{y - 4:.0f} {x - 8:.0f},{y + 4:.0f}"
    )
    return f'<polygon points="{x:.0f},{y:.0f} {corners}" fill="currentColor" stroke="none"/>'


def _start(at: tuple[float, float], width: float) -> str:
    x, y = at[0] - width / 2, at[1]
    dot = f'<circle cx="{x - 30:.0f}" cy="{y:.0f}" r="5" fill="currentColor" stroke="none"/>'
    return f'{dot}<path d="M{x - 25:.0f},{y:.0f} H{x - 7:.0f}"/>{_head(x, y)}'


def _arrow(points: Sequence[tuple[float, float, float]]) -> str:
    way = f"M{points[0][0] + points[0][2]:.0f},{points[0][1]:.0f}"
    for (x, y, half), (to_x, to_y, to_half) in itertools.pairwise(points):
        begin, end = x + half, to_x - to_half
        bend = (end - begin) / 2
        way += f" L{begin:.0f},{y:.0f} C{begin + bend:.0f},{y:.0f} {end - bend:.0f},{to_y:.0f} {end:.0f},{to_y:.0f}"
    return f'<path d="{way}"/>{_head(points[-1][0] - points[-1][2], points[-1][1])}'


def _beside(
    begin: tuple[float, float, float], end: tuple[float, float, float], words: tuple[str, ...], others: Sequence[_Label]
) -> _Label:
    """A label on the first stretch of an arrow, as near to its middle as the labels before it allow."""
    (x, y), (to_x, to_y) = (begin[0] + begin[2], begin[1]), (end[0] - end[2], end[1])
    places = []
    for part in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8):
        rest = 1 - part
        along = 1.5 * rest * rest * part + 1.5 * rest * part * part + part**3
        across = 3 * rest * part * part + part**3
        places.append(_Label(x + (to_x - x) * along, y + (to_y - y) * across, words))
    return next((place for place in places if not any(map(place.overlaps, others))), places[0])


def _state(name: str, x: float, y: float, width: float) -> str:
    left, top = x - width / 2, y - _BOX / 2
    fill = "var(--color-background-secondary, #f4f4f4)"
    return (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{_BOX}" rx="6" style="fill:{fill}"/>'
        f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" fill="currentColor" stroke="none">'
        f"{escape(name)}</text>"
    )
