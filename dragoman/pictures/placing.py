"""Where each line of a journal stands in a picture: calls where they took effect, the others where they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["placed"]

Line = Mapping[str, Any]


def placed(lines: Sequence[Line]) -> Iterator[tuple[Line, Line | None, Line | None]]:
    """Each line in its order, a call with its reply and the step that it was; what only tells of a call is left out.

    A call stands at the last line `took` of its number, with the instant of that; one that committed stands before
    what it committed. One without a line `took` stands where it was made.
    """
    places: dict[int, int] = {}
    replies: dict[int, Line] = {}
    commits: dict[str, int] = {}
    calls: dict[int, tuple[int, Line]] = {}
    steps: dict[int, Line] = {}
    alone: set[int] = set()
    step: tuple[int, Line] | None = None
    for index, line in enumerate(lines):
        kind = line["k"]
        if step is not None and kind != "call":
            alone.add(step[0])
        if kind == "call":
            calls[line["n"]] = (index, line)
            places[line["n"]] = index
            if step is not None:
                steps[line["n"]] = step[1]
        elif kind == "took" and line["n"] in calls:
            places[line["n"]] = index
        elif kind == "committed":
            commits[line["request"]] = index
        elif kind == "reply" and line["n"] in calls:
            number = line["n"]
            replies[number] = line
            made, call = calls[number]
            committed = commits.get(call.get("request", ""))
            if line.get("committed") and committed is not None and made < committed < places[number]:
                places[number] = committed
        step = (index, line) if kind == "step" else None
    if step is not None:
        alone.add(step[0])
    at: defaultdict[int, list[int]] = defaultdict(list)
    for number, index in places.items():
        at[index].append(number)
    for index, line in enumerate(lines):
        for number in at.get(index, ()):
            yield {**calls[number][1], "t": line["t"]}, replies.get(number), steps.get(number)
        kind = line["k"]
        if kind in ("call", "took", "reply") or (kind == "step" and index not in alone):
            continue
        yield line, None, None
