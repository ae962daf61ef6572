"""The page as a file: complete in itself, safe whatever it shows, bounded, and readable in both colour schemes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman.pictures import Capture, Outcome, Picture, page, picture_of
from dragoman.scenarios import replay_file

from .runs import late

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--",
    "]]>",
    "'\"&",
    "\u2028\u2029",
    "\u202eabc",
    "🧿🇩🇪",
    "\x00\ud800",
)


class Scripts(HTMLParser):
    """The elements that a browser would find, and what is in the scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.links: list[str] = []
        self._open: dict[str, str | None] | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("src", "href", "action", "data")]
        if tag == "script":
            self.scripts.append((dict(attributes), ""))
            self._open = dict(attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            attributes, before = self.scripts[-1]
            self.scripts[-1] = attributes, before + data


def parsed(content: bytes) -> Scripts:
    scripts = Scripts()
    scripts.feed(content.decode("utf-8"))
    return scripts


def data_of(content: bytes, element: str) -> Any:
    (found,) = [text for attributes, text in parsed(content).scripts if attributes.get("id") == element]
    return json.loads(found)


def hostile() -> Picture:
    """A run in which every id and every text is an attack."""
    lines: list[dict[str, Any]] = []
    for number, name in enumerate(HOSTILE, 1):
        parents = {name: f"{len(name)}:{len(name)}::{name}"}
        lines += [
            {"t": 0, "k": "call", "n": number, "op": "register", "request": name, "session": name, "parents": parents},
            {"t": 0, "k": "reply", "n": number, "status": "REGISTERED"},
            {"t": 0, "k": "handle", "request": name, "state": "REGISTERED"},
        ]
    return picture_of(lines, Outcome(title=HOSTILE[0], about=HOSTILE[1], passed=False), texts=True)


def test_no_id_and_no_text_can_end_the_element_that_it_is_in() -> None:
    quiet = parsed(page([picture_of([], Outcome(title="nothing"))]))
    attacked = parsed(page([hostile()], title=HOSTILE[0]))
    assert attacked.tags == quiet.tags
    assert [attributes for attributes, _text in attacked.scripts] == [attributes for attributes, _text in quiet.scripts]


def test_whatever_stands_in_the_data_comes_out_of_it_again() -> None:
    data = data_of(page([hostile()]), "picture-0")
    assert [lane[0] for lane in data["lanes"]] == list(HOSTILE)
    assert data["title"] == HOSTILE[0]


def test_the_page_names_nothing_to_load(tmp_path: Path) -> None:
    content = page([late(tmp_path)])
    assert parsed(content).links == ["data:,", "#events"]
    assert not re.search(rb"https?://|@import|url\(", content)


def test_the_policy_of_the_page_admits_its_own_program_and_style_alone(tmp_path: Path) -> None:
    content = page([late(tmp_path)]).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', content)
    program = next(text for attributes, text in parsed(content.encode()).scripts if not attributes)
    (style,) = re.findall(r"<style>(.*?)</style>", content, re.DOTALL)
    for name, text in (("script", program), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src &#x27;sha256-{digest}&#x27;" in policy
    assert policy.startswith("default-src &#x27;none&#x27;")


def test_what_failed_comes_first(tmp_path: Path) -> None:
    good = late(tmp_path)
    bad = attrs.evolve(good, outcome=attrs.evolve(good.outcome, title="bad", passed=False))
    index = data_of(page([good, bad, good]), "head")["index"]
    assert [entry["passed"] for entry in index] == [False, True, True]


def test_a_page_is_bounded_and_says_what_it_left_out(tmp_path: Path) -> None:
    picture = late(tmp_path)
    one = len(page([picture]))
    content = page([picture] * 50, max_bytes=20_000)
    head = data_of(content, "head")
    assert head["leftOut"] + len(head["index"]) == 50
    assert head["leftOut"] > 40
    assert len(content) < one + 20_000


def test_no_text_of_a_run_gets_into_a_page_that_shows_none(tmp_path: Path) -> None:
    path = tmp_path / "secret.yaml"
    step = "{at: 0s, register: {request: r1, session: s1, parents: {p1: kingfisher}}}"
    path.write_text(f"scenario: s\ntimeline: [{step}]\n", encoding="utf-8")
    capture = Capture()
    replay_file(path, journal=capture)
    assert b"kingfisher" not in page([picture_of(capture.lines(), Outcome(title="s"))])


STYLE = (Path(__file__).parents[2] / "dragoman" / "pictures" / "template" / "page.css").read_text(encoding="utf-8")


def colours(scheme: str) -> dict[str, str]:
    light, dark = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    ]
    return light | (dark if scheme == "dark" else {})


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXTS = [
    *[(text, ground) for text in ("text", "quiet", "bad", "commit") for ground in ("ground", "panel", "lane")],
    *[("text", ground) for ground in ("waiting", "bad-ground", "good-ground", "history")],
    *[
        ("bad", "bad-ground"),
        ("accept", "good-ground"),
        ("quiet", "bad-ground"),
        ("ground", "text"),
        ("commit", "panel"),
    ],
    *[("on-mark", mark) for mark in ("accept", "reject", "commit", "bad", "odd")],
]
SHAPES = [
    *[
        (mark, ground)
        for mark in ("accept", "reject", "commit", "bad", "odd", "plain")
        for ground in ("ground", "open", "window")
    ],
    *[
        ("window-edge", "ground"),
        ("waiting-edge", "ground"),
        ("focus", "ground"),
        ("strong", "panel"),
        ("recovery", "ground"),
    ],
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_text_has_the_contrast_that_wcag_aa_asks_for(scheme: str, text: str, ground: str) -> None:
    named = colours(scheme)
    assert contrast(named[text], named[ground]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPES)
def test_marks_have_the_contrast_that_wcag_aa_asks_for(scheme: str, shape: str, ground: str) -> None:
    named = colours(scheme)
    assert contrast(named[shape], named[ground]) >= 3
