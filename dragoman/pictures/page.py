"""The page: one HTML file that holds its style, its program and its data, and asks no network for anything.

Rules. The data of each picture is JSON in an element of its own, in which no character can end that element. The
page's security policy admits this program and this style alone, by their digests, and no connection whatever.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from .picture import Event, Lane, Picture, Sentence, Session, Span
from .sentences import TOPICS

__all__ = ["MAX_PAGE_BYTES", "page"]

MAX_PAGE_BYTES = 24 * 1024 * 1024
"""Of data that a page takes; what comes after is left out, and the page says so."""
_SCRIPTS = ("words.js", "axis.js", "marks.js", "rows.js", "view.js", "drawing.js", "panels.js", "events.js", "main.js")


def page(pictures: Sequence[Picture], *, title: str = "Dragoman", max_bytes: int = MAX_PAGE_BYTES) -> bytes:
    """One page with all pictures, those that failed first, as far as `max_bytes` of data go; UTF-8.

    The first picture is in it, however large it is.
    """
    first_failed = sorted(pictures, key=lambda picture: picture.outcome.passed is not False)
    data: list[str] = []
    size = 0
    for picture in first_failed:
        told = _embedded(_plain(picture))
        size += len(told)
        if data and size > max_bytes:
            break
        data.append(told)
    left_out = len(pictures) - len(data)
    index = [
        {"title": picture.outcome.title, "passed": picture.outcome.passed} for picture in first_failed[: len(data)]
    ]
    style = _file("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_file(name) for name in _SCRIPTS) + "\n})();\n"
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = _embedded({"index": index, "leftOut": left_out, "topics": TOPICS})
    blocks = [f'<script type="application/json" id="head">{head}</script>']
    blocks += [
        f'<script type="application/json" id="picture-{place}">{told}</script>' for place, told in enumerate(data)
    ]
    filled = _file("page.html")
    for mark, content in (
        ("{{policy}}", html.escape(policy)),
        ("{{title}}", html.escape(title)),
        ("{{style}}", style),
        ("{{script}}", script),
        ("{{data}}", "\n".join(blocks)),
    ):
        before, _mark, after = filled.partition(mark)
        filled = before + content + after
    return filled.encode("utf-8", "replace")


def _file(name: str) -> str:
    return resources.files(__package__).joinpath("template", name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _embedded(data: Any) -> str:
    """JSON that may stand inside an element: ASCII, and no character that begins markup."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(picture: Picture) -> dict[str, Any]:
    outcome = picture.outcome
    return {
        "title": outcome.title,
        "passed": outcome.passed,
        "about": outcome.about,
        "file": outcome.file,
        "remarks": list(outcome.remarks),
        "failures": [
            [failed.line, failed.step, failed.expected, failed.actual, failed.message, failed.event]
            for failed in outcome.failures
        ],
        "begin": picture.begin_us,
        "leftOut": picture.left_out,
        "texts": picture.texts,
        "sessions": [_session(session) for session in picture.sessions],
        "lanes": [_lane(lane) for lane in picture.lanes],
        "events": [_event(event) for event in picture.events],
        "sentences": [_sentence(sentence) for sentence in picture.sentences],
    }


def _session(session: Session) -> list[Any]:
    turns = [[turn.event, turn.lane, turn.parent, turn.user, turn.assistant, turn.until] for turn in session.turns]
    return [session.id, turns]


def _lane(lane: Lane) -> list[Any]:
    parents = [[parent.id, parent.source, parent.result, parent.state] for parent in lane.parents]
    return [lane.id, lane.session, lane.kind, lane.cause, parents, [_span(span) for span in lane.spans]]


def _span(span: Span) -> list[Any]:
    return [span.kind, span.begin, span.end, span.until_us, span.parent, span.word, list(span.lanes), span.says]


def _event(event: Event) -> list[Any]:
    told = [event.at_us, event.kind, event.says, event.word, event.session, event.lane, event.parent, event.step]
    return [*told, event.late_us]


def _sentence(sentence: Sentence) -> list[Any]:
    return [TOPICS.index(sentence.topic), sentence.says, sentence.event]
