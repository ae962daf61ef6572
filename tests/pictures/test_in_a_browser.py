"""The page in a real browser: it draws what happened where it happened, for eyes, keys and screen readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman.pictures import Outcome, Picture, page, picture_of

from .browser import Browser, started
from .runs import LONGEST, drawn, late
from .test_page import HOSTILE, colours, hostile

BOX = "const box = document.querySelector('#canvas').getBoundingClientRect();"
EVENTS = 10_000
FRAME_MS = 16.7
SIZES = [(1280, 900), (360, 740)]


@pytest.fixture(scope="module")
def _browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(_browser: Browser) -> Iterator[Browser]:
    """The browser; whatever a test does with it, nothing is complained of and nothing is loaded."""
    yield _browser
    assert _browser.complaints() == []
    assert _browser.requests() == []


@pytest.fixture(scope="module")
def longest() -> Picture:
    return drawn(LONGEST)


Opened = Callable[..., Browser]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Opened:
    def opened_page(*pictures: Picture, **how: Any) -> Browser:
        path = tmp_path / "page.html"
        path.write_bytes(page(pictures))
        browser.open(path, **how)
        return browser

    return opened_page


def where(browser: Browser, condition: str) -> dict[str, Any]:
    """Where the first event is drawn for which a condition of `e` holds."""
    script = f"const e = dragoman.picture.events.find((e) => {condition}); return dragoman.drawing.whereIs(e.index);"
    found = browser.run(script)
    assert found is not None
    return found  # type: ignore[no-any-return]


def selected(browser: Browser) -> Any:
    return browser.run("return dragoman.selected === null ? null : dragoman.picture.events[dragoman.selected].says")


def answers(browser: Browser) -> list[str]:
    found = browser.run("return [...document.querySelectorAll('#answers .go')].map((one) => one.textContent)")
    return list(found)


def overflow(browser: Browser) -> int:
    return int(browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_longest_scenario_is_shown_without_a_complaint(
    opened: Opened, longest: Picture, width: int, height: int, dark: bool
) -> None:
    browser = opened(longest, width=width, height=height, dark=dark)
    assert browser.run("return document.querySelector('#verdict').textContent") == "✓ passed"
    assert any("came 15.601 s after it had closed" in says for says in answers(browser))
    assert overflow(browser) == 0
    name = f"longest-{width}-{'dark' if dark else 'light'}"
    browser.screenshot(name, whole=True)


def test_a_late_ack_lies_right_of_the_end_of_its_window_in_the_lane_of_its_parent(
    opened: Opened, tmp_path: Path
) -> None:
    browser = opened(late(tmp_path))
    ack = where(browser, "e.word === 'STALE'")
    closed = where(browser, "e.kind === 'close' && e.lane === 0")
    end = browser.run(
        "const d = dragoman.drawing; const s = dragoman.picture.lanes[0].spans.find((s) => s.kind === 'window');"
        "return d.extent(s)[1];"
    )
    assert ack["x"] > end + 10
    assert end == pytest.approx(closed["x"])
    assert ack["row"] == "parent"
    row = browser.run("return dragoman.drawing.rows.at(arguments[0]).parent.id", ack["y"])
    assert row == "p3"


def test_a_wait_is_drawn_from_its_first_accepted_parent_to_its_turn(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    extent = browser.run(
        "const wait = dragoman.picture.lanes[1].spans.find((span) => span.kind === 'waiting');"
        "return dragoman.drawing.extent(wait);"
    )
    assert extent == [where(browser, "e.kind === 'wait'")["x"], where(browser, "e.kind === 'turn'")["x"]]


PIXELS = """
const canvas = document.querySelector('#canvas');
const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const at = ([x, y]) => [...data.slice(4 * (Math.round(y) * width + Math.round(x))).slice(0, 3)];
return arguments[0].map(at);
"""
"""The colours at some points; read at once, since a browser warns of a canvas that is read again and again."""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_is_drawn_is_in_the_colours_of_the_scheme(opened: Opened, tmp_path: Path, dark: bool) -> None:
    browser = opened(late(tmp_path), dark=dark)
    browser.run("dragoman.select(null)")
    browser.settle()
    marks = {"commit": "e.kind === 'commit'", "accept": "e.word === 'ACCEPTED'"}
    places = [where(browser, condition) for condition in marks.values()]
    found = browser.run(PIXELS, [[place["x"] - 4, place["y"]] for place in places])
    named = colours("dark" if dark else "light")
    assert found == [[int(named[name][at : at + 2], 16) for at in (1, 3, 5)] for name in marks]


def test_a_failing_step_is_chosen_and_told_with_what_was_expected_and_what_was_so(
    opened: Opened, tmp_path: Path
) -> None:
    browser = opened(late(tmp_path, expected="ACCEPTED"))
    assert browser.run("return document.querySelector('#verdict').textContent") == "✗ failed"
    assert browser.run("return document.querySelector('#failures').hidden") is False
    assert selected(browser).startswith("ACK of r1/p3: STALE")
    told = browser.run("return document.querySelector('#detail').innerText")
    assert '"ACCEPTED"' in told
    assert '"STALE"' in told
    browser.screenshot("a-failing-step", whole=True)


@pytest.mark.parametrize(
    "said", ["r2 waited 4.2 s for r1", "The ACK of r1/p3 came 1 s after", "s1: r1 p1 at 1 s; r2 p1"]
)
def test_a_sentence_leads_into_the_picture(opened: Opened, tmp_path: Path, said: str) -> None:
    browser = opened(late(tmp_path))
    browser.run(
        "const buttons = [...document.querySelectorAll('#answers .go')];"
        "buttons.find((one) => one.textContent.startsWith(arguments[0])).click()",
        said,
    )
    assert browser.run("return document.activeElement.id") == "canvas"
    assert selected(browser) is not None
    browser.settle()
    top, bottom = browser.run(
        "const r = document.querySelector('#canvas').getBoundingClientRect(); return [r.top, r.bottom]"
    )
    assert top < 900
    assert bottom > 0


def point_at(browser: Browser, place: dict[str, Any], *, click: bool = False) -> None:
    browser.run("document.querySelector('#frame').scrollIntoView()")
    left, top = browser.run(f"{BOX} return [box.left, box.top]")
    at = {"x": left + place["x"], "y": top + place["y"], "button": "left", "clickCount": 1}
    for kind in ("mouseMoved", *(("mousePressed", "mouseReleased") if click else ())):
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **at})
    browser.settle()


def test_what_the_mouse_is_over_is_told(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    point_at(browser, where(browser, "e.word === 'STALE'"))
    tip = browser.run("const tip = document.querySelector('#tip'); return tip.hidden ? null : tip.innerText")
    assert tip.splitlines()[0] == "ACK of r1/p3: STALE, 1 s after its window had ended"
    wait = where(browser, "e.kind === 'wait'")
    point_at(browser, {"x": wait["x"] + 30, "y": wait["y"] + 19})
    tip = browser.run("return document.querySelector('#tip').innerText")
    assert [line for line in tip.splitlines() if line] == [
        "r2 has something accepted and waits for r1",
        "4.2 s, until MAY_COMMIT",
    ]


def test_a_click_chooses_an_event_and_on_a_name_folds_its_parents(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    point_at(browser, where(browser, "e.word === 'REJECTED'"), click=True)
    assert selected(browser) == "rejection of r1/p2: REJECTED"
    lane = browser.run("return dragoman.drawing.rows.ofLane[0].middle")
    point_at(browser, {"x": 40, "y": lane}, click=True)
    assert browser.run("return dragoman.drawing.rows.ofLane[0].parents.length") == 0


def test_the_picture_is_walked_through_with_the_arrow_keys(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    browser.keys("#canvas", "Home")
    assert selected(browser) == "r1 is registered: 3 parents"
    browser.keys("#canvas", "ArrowRight", "ArrowRight")
    assert selected(browser) == "r2 is registered: 1 parent"
    browser.keys("#canvas", "End", "ArrowLeft", "ArrowLeft")
    assert selected(browser).startswith("ACK of r1/p3: STALE")
    before = browser.run("return dragoman.drawing.unit")
    browser.keys("#canvas", "+")
    assert browser.run("return dragoman.drawing.unit") > before
    browser.keys("#canvas", "0")
    assert browser.run("return dragoman.drawing.unit") == pytest.approx(before)


def test_enter_folds_the_parents_of_a_request(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    browser.keys("#canvas", "Home", "Enter")
    assert browser.run("return dragoman.drawing.rows.ofLane[0].parents.length") == 0
    browser.keys("#canvas", "Enter")
    assert browser.run("return dragoman.drawing.rows.ofLane[0].parents.length") == 3


def test_the_history_is_shown_as_it_was_then(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    turns = (
        "return [...document.querySelectorAll('#history li')].map((one) => one.innerText.replace(/\\s+/g, ' ').trim())"
    )
    script = "dragoman.select(dragoman.picture.events.filter((e) => e.kind === 'commit')[arguments[0]].index)"
    browser.run("dragoman.select(0)")
    assert browser.run(turns) == []
    browser.run(script, 0)
    assert browser.run(turns) == ["r1/p1 (new) Hello Hallo"]
    browser.run(script, 1)
    assert browser.run(turns) == ["r1/p1 Hello Hallo", "r2/p1 (new) Moon Mond"]
    browser.keys("#cursor", "End")
    assert browser.run(turns) == []


def test_the_list_of_events_is_a_listbox_that_tells_its_choice(opened: Opened, longest: Picture) -> None:
    browser = opened(longest)
    browser.keys("#events", "Home", "ArrowDown", "ArrowDown")
    active = browser.run(
        "const box = document.querySelector('#events');"
        "const one = document.getElementById(box.getAttribute('aria-activedescendant'));"
        "const told = ['role', 'aria-selected', 'aria-posinset', 'aria-setsize'].map((name) => one.getAttribute(name));"
        "return [box.getAttribute('role'), ...told];"
    )
    assert active == ["listbox", "option", "true", "3", str(len(longest.events))]
    assert browser.run("return document.querySelectorAll('#events-rows .row').length") < 60
    browser.keys("#events", "End")
    assert selected(browser) == longest.events[-1].says


def test_what_has_the_focus_shows_it(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    for selector in ("#canvas", "#events", "#zoom-in", "#filter", "#cursor"):
        browser.keys(selector, "Shift")
        style = (
            "const s = getComputedStyle(document.activeElement); return [document.activeElement.id, s.outlineStyle];"
        )
        assert browser.run(style) == [selector[1:], "solid"]


def test_a_filter_leaves_what_it_names(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    browser.run(
        "const box = document.querySelector('#filter'); box.value = 'r1/p3 stale';"
        "box.dispatchEvent(new Event('input'));"
    )
    browser.settle()
    assert browser.run("return document.querySelectorAll('#events-rows .row').length") == 1
    browser.keys("#canvas", "Home", "Escape", "ArrowRight")
    assert selected(browser).startswith("ACK of r1/p3: STALE")


def test_the_true_scale_keeps_the_proportions_of_time(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path))
    browser.run("document.querySelector('input[value=true]').click()")
    browser.settle()
    places = [where(browser, f"e.at === {at}")["x"] for at in (0, 6_200_000, 7_200_000_000)]
    assert (places[1] - places[0]) / (places[2] - places[0]) == pytest.approx(6.2 / 7200, rel=1e-6)


def test_a_name_that_is_an_attack_is_only_a_name(opened: Opened) -> None:
    browser = opened(hostile())
    names = browser.run("return JSON.stringify(dragoman.picture.lanes.map((lane) => lane.id))")
    assert json.loads(names) == list(HOSTILE)
    assert browser.run("return document.querySelector('#title').textContent") == HOSTILE[0]
    turned = browser.run(
        "const rows = [...document.querySelectorAll('.row .what')].map((one) => one.textContent);"
        "return rows.filter((says) => says.includes('abc'));"
    )
    assert turned == ["\\u202eabc is registered: 1 parent"]
    browser.screenshot("hostile-names")


def test_a_page_of_several_runs_shows_the_one_that_is_chosen(opened: Opened, tmp_path: Path, longest: Picture) -> None:
    failing = late(tmp_path, expected="ACCEPTED")
    browser = opened(longest, failing)
    assert browser.run("return document.querySelector('#title').textContent") == failing.outcome.title
    browser.run("const c = document.querySelector('#chooser'); c.value = '1'; c.dispatchEvent(new Event('change'));")
    browser.settle()
    assert browser.run("return document.querySelector('#title').textContent") == longest.outcome.title


def test_the_page_is_usable_on_a_small_screen(opened: Opened, tmp_path: Path) -> None:
    browser = opened(late(tmp_path, expected="ACCEPTED"), width=360, height=740)
    assert overflow(browser) == 0
    canvas = browser.run(
        "const r = document.querySelector('#canvas').getBoundingClientRect(); return [r.left, r.right]"
    )
    assert 0 <= canvas[0] < canvas[1] <= 360
    small = browser.run(
        "return [...document.querySelectorAll('button, select, input[type=search]')].filter((one) => one.offsetParent)"
        ".filter((one) => one.getBoundingClientRect().height < 24).map((one) => one.outerHTML)"
    )
    assert small == []
    browser.screenshot("small", whole=True)


def test_an_empty_run_is_shown(opened: Opened) -> None:
    browser = opened(picture_of([], Outcome(title="nothing happened")))
    browser.keys("#canvas", "Home", "ArrowRight", "ArrowDown", "+", "Enter")
    assert selected(browser) is None


def many(picture: Picture) -> Picture:
    """A picture of more than `EVENTS` events: one run again and again."""
    lanes, events, sessions = [], [], []
    while len(events) < EVENTS:
        shift_us = events[-1].at_us if events else 0
        at, lane, session = len(events), len(lanes), len(sessions)
        for one in picture.lanes:
            spans = [
                attrs.evolve(span, begin=span.begin + at, end=None if span.end is None else span.end + at)
                for span in one.spans
            ]
            lanes.append(attrs.evolve(one, session=one.session + session, spans=spans))
        for one_session in picture.sessions:
            turns = [
                attrs.evolve(turn, event=turn.event + at, lane=turn.lane + lane, until=None)
                for turn in one_session.turns
            ]
            sessions.append(attrs.evolve(one_session, turns=turns))
        events += [
            attrs.evolve(
                event,
                at_us=event.at_us + shift_us,
                lane=None if event.lane is None else event.lane + lane,
                session=None if event.session is None else event.session + session,
            )
            for event in picture.events
        ]
    return attrs.evolve(picture, lanes=tuple(lanes), sessions=tuple(sessions), events=tuple(events))


MOVES = """
const done = arguments[0];
const d = dragoman.drawing;
for (const lane of dragoman.picture.lanes) d.rows.unfolded.add(lane.index);
d.rows.lay();
d.layout();
const gaps = [];
let frame = 0;
let last = null;
d.frames.length = 0;
const step = (now) => {
  if (last !== null) gaps.push(now - last);
  last = now;
  frame += 1;
  if (frame > 120) { done({ gaps, frames: d.frames.slice(-120) }); return; }
  if (frame < 40) d.zoom(1.08, 500);
  else if (frame < 80) { d.move(d.from + 40 / d.unit); d.scroller.scrollTop += 60; }
  else d.zoom(1 / 1.08, 500);
  requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""


def test_ten_thousand_events_stay_fluid(opened: Opened, longest: Picture, record_property: Any) -> None:
    browser = opened(many(longest))
    assert browser.run("return dragoman.picture.events.length") >= EVENTS
    measured = browser.driver.execute_async_script(MOVES)
    painted = sorted(measured["frames"])
    gaps = sorted(measured["gaps"])
    median, most = painted[len(painted) // 2], painted[int(len(painted) * 0.95)]
    record_property("painting, median and 95 %, ms", (round(median, 2), round(most, 2)))
    record_property("between frames, median, ms", round(gaps[len(gaps) // 2], 2))
    print(f"painting: median {median:.2f} ms, 95 % {most:.2f} ms; frames {gaps[len(gaps) // 2]:.1f} ms")  # noqa: T201
    browser.run("document.querySelector('#picture-title').scrollIntoView()")
    browser.screenshot("ten-thousand-events")
    assert median < FRAME_MS
