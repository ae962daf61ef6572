"""What is a parent in a subtitle file, what its segments are, and what is never touched."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman.documents.invalid import InvalidDocument
from dragoman.documents.subtitles import Subtitles
from dragoman.protocol.features import ParentRefused

_ASS = """[Script Info]
Title: Dialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,no event

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,20

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def _srt(*texts: str) -> str:
    return "\n".join(
        f"{number}\n00:00:{number:02},000 --> 00:00:{number:02},900\n{text}\n" for number, text in enumerate(texts, 1)
    )


def _vtt(text: str) -> str:
    return f"WEBVTT\n\n00:01.000 --> 00:02.000\n{text}\n"


def _ass(text: str) -> str:
    return f"{_ASS}Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{text}\n"


def _translated(source: str | bytes, *segments: str, parent_id: str = "c1") -> str:
    document = Subtitles(source)
    for replacement in document.dispatch(parent_id, segments):
        replacement.apply()
    return document.render().decode()


@pytest.mark.parametrize(
    ("source", "segments"),
    [
        (_srt("Hello there."), ("Hello there.",)),
        (_srt("Two\nlines"), ("Two\nlines",)),
        (_srt("<i>Hello</i>"), ("Hello",)),
        (_srt("{\\an8}<i>Up <b>there</b></i>!"), ("Up ", "there", "!")),
        (_srt('<font color="#fff">Hello</font>\n- <i>you</i>'), ("Hello", "\n- ", "you")),
        (_srt("<i>one</i>\n<i>two</i>"), ("one\n", "two")),
        (_srt("<i>one</i> <i>two</i>"), ("one ", "two")),
        (_srt("I <3 you & me > all"), ("I <3 you & me > all",)),
        (_srt("{laughs} Hi"), ("{laughs} Hi",)),
        (_vtt("<v Bob>Tom &amp; Jerry &lt;3"), ("Tom & Jerry <3",)),
        (_vtt("<v.loud Bob>a<c.red.bg_blue>b</c><00:01.500>c</v>"), ("a", "b", "c")),
        (_vtt("AT&T &amp;amp; &nosuch;"), ("AT&T &amp; &nosuch;",)),
        (_vtt("a&nbsp;b"), ("a\xa0b",)),
        (_vtt("we <3 you, 2 < 3, <b>bold</b> <broken"), ("we <3 you, 2 < 3, ", "bold")),
        (_ass("Hello\\Nthere,\\hyou"), ("Hello\nthere,\xa0you",)),
        (_ass("{\\i1}one{\\i0}, {a note}two"), ("one", ", ", "two")),
        (_ass("{\\k20}ka{\\k30}ra"), ("ka", "ra")),
        (_ass("{\\p1}m 0 0 l 9 0{\\p0}shown{\\pos(1,2)} too"), ("shown", " too")),
    ],
)
def test_segments_are_the_texts_between_tags(source: str, segments: tuple[str, ...]) -> None:
    assert Subtitles(source).parents == {"c1": segments}


@pytest.mark.parametrize(
    "source",
    [
        _srt("♪ ♫", "...", "12:30", ""),
        _vtt("♪"),
        "WEBVTT\n\nNOTE a note\nof two lines\n\nSTYLE\n::cue(b) { color: red }\n",
        _ass("{\\p1}m 0 0 l 100 0"),
        _ASS + "Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hello\n",
        _ASS,
    ],
)
def test_what_is_not_spoken_is_no_parent(source: str) -> None:
    document = Subtitles(source)
    assert document.parents == {}
    assert document.render() == source.encode()


def test_cues_are_numbered_in_the_order_in_which_they_are_heard() -> None:
    source = _ASS + "".join(
        f"{kind}: 0,0:00:0{start}.00,0:00:09.00,Default,,0,0,0,,{text}\n"
        for kind, start, text in [
            ("Dialogue", 3, "third"),
            ("Comment", 0, "none"),
            ("Dialogue", 1, "first"),
            ("Dialogue", 2, "♪"),
            ("Dialogue", 3, "fourth"),
        ]
    )
    document = Subtitles(source)
    assert document.parents == {"c1": ("first",), "c3": ("third",), "c4": ("fourth",)}
    assert _translated(source, "erste", parent_id="c1") == source.replace("first", "erste")


@pytest.mark.parametrize(
    ("source", "document", "kind"),
    [
        (_srt("a"), "x", "srt"),
        (_vtt("a"), "x.srt", "vtt"),
        (_ass("a"), "x.srt", "ass"),
        (_ass("a").replace("V4+", "V4").replace("Layer", "Marked").replace(": 0,", ": Marked=0,"), "x", "ssa"),
        ("", "x.srt", "srt"),
        ("00:01.000 --> 00:02.000\na\n", "x.VTT", "vtt"),
        ("[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,a\n", "x.ass", "ass"),
    ],
)
def test_the_format_is_told_by_the_content_and_else_by_the_name(source: str, document: str, kind: str) -> None:
    subtitles = Subtitles(source, document=document)
    assert subtitles.format == kind
    assert list(subtitles.parents.values()) == ([("a",)] if source else [])


@pytest.mark.parametrize(
    "source",
    [
        "1\r\n00:00:01,000 --> 00:00:02,000\r\nHello\r\nyou\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nBye",
        "1\r00:00:01,000 --> 00:00:02,000\rHello\ryou\r\r2\r00:00:03,000 --> 00:00:04,000\rBye\r",
        "\ufeff1\n00:00:01,000 --> 00:00:02,000\nHello\nyou\n\n\n\n2\n00:00:03,000 --> 00:00:04,000\nBye\n\n\n",
        "00:00:01.000 --> 00:00:02.000\nHello\nyou\n00:00:03.000 --> 00:00:04.000\nBye\n",
        "1\n0:0:1,0 --> 0:0:2,5 X1:1 X2:2\n\n  Hello\nyou  \n\n2\n00:00:03,000 --> 00:00:04,000\nBye \n\n3\n",
        "WEBVTT\n\nx\n00:01.000 --> 00:02.000 line:0 align:start\nHello\nyou\n\n\n00:03.000 --> 00:04.000\nBye",
        "WEBVTT - x\r\n\r\n1\r\n0:00:01.000 --> 0:00:02.000\r\n \r\nHello\r\nyou\r\n\r\n00:03.000 --> 00:04.000\r\nBye",
        _ASS + "Dialogue: 0,0:00:01.00,0:00:02.00,a,b,0,0,0,,Hello\\Nyou\n"
        "Dialogue:0, 0:00:03.00 ,0:00:04.00,,,0,0,0,, Bye  \n\n",
    ],
)
def test_loosely_written_files_are_read_and_written_back(source: str) -> None:
    document = Subtitles(source, document="x.srt")
    assert document.render() == source.encode()
    assert document.parents == {"c1": ("Hello\nyou",), "c2": ("Bye",)}
    for parent_id, text in (("c1", "Hallo\ndu"), ("c2", "Tschüss")):
        for replacement in document.dispatch(parent_id, (text,)):
            replacement.apply()
    changed = source.replace("Hello", "Hallo").replace("you", "du").replace("Bye", "Tschüss")
    assert document.render() == changed.encode()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_other_encodings_stay_as_they_are(encoding: str) -> None:
    raw = _srt("Grüße").encode(encoding)
    document = Subtitles(raw, encoding="cp1252")
    assert document.render() == raw
    for replacement in document.dispatch("c1", ("Où ça",)):
        replacement.apply()
    assert document.render() == _srt("Où ça").encode(encoding)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("Just a text.\n", "no subtitle file"),
        ("{1}{2}MicroDVD\n", "no subtitle file"),
        (_ass("a").replace("0:00:01.00", "soon"), "cannot be read as ASS"),
        (_ass("a").replace("MarginV, Effect, Text", "Effect, Text"), r"other fields than usual \(line 9\)"),
        (_vtt("from 10:00.000 to 11:00.000"), r"cue 1 \(line 3\) is not what pysubs2 reads there"),
    ],
)
def test_what_cannot_be_read_is_refused_without_its_text(source: str, problem: str) -> None:
    with pytest.raises(InvalidDocument, match=problem) as caught:
        Subtitles(source, document="x.txt")
    assert "soon" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_repr_shows_no_text() -> None:
    document = Subtitles(_srt("a <i>secret</i>"))
    assert "secret" not in repr(document) + repr(document._spoken) + repr(document._blocks)


@pytest.mark.parametrize(
    ("made", "text", "segments", "written"),
    [
        (_srt, "a", ("x\ny",), "x\ny"),
        (_srt, "a", (" x\r\ny ",), "x\ny"),
        (_srt, "a", ("x < 3 & {y}",), "x < 3 & {y}"),
        (_vtt, "a", ("x < 3 & y > z &amp;",), "x &lt; 3 &amp; y &gt; z &amp;amp;"),
        (_vtt, "a", ("<i>x</i>",), "&lt;i&gt;x&lt;/i&gt;"),
        (_ass, "a", ("x\ny\xa0z",), "x\\Ny\\hz"),
        (_ass, "a\\nb", ("x\ny",), "x\\ny"),
        (_ass, "a", ("x\n\ny, z",), "x\\N\\Ny, z"),
        (_srt, "<i>one</i>\n<i>two</i>", ("eins\n", "zwei"), "<i>eins</i>\n<i>zwei</i>"),
        (_srt, "<i>one</i> two", ("eins", " zwei"), "<i>eins</i> zwei"),
        (_srt, "one <i>two</i>", ("one ", "zwei"), "one <i>zwei</i>"),
        (_srt, "one <i>two</i>", ("", "zwei"), "<i>zwei</i>"),
        (_ass, "{\\p1}m 0 0{\\p0}one", ("eins",), "{\\p1}m 0 0{\\p0}eins"),
    ],
)
def test_a_translation_is_written_as_its_format_wants_it(
    made: Callable[[str], str], text: str, segments: tuple[str, ...], written: str
) -> None:
    assert _translated(made(text), *segments) == made(written)


def test_lines_are_broken_as_in_the_file() -> None:
    source = _srt("a").replace("\n", "\r\n")
    assert _translated(source, "x\ny") == source.replace("a", "x\r\ny")


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        (_srt("a"), "x\n\ny"),
        (_srt("a"), "x\n \ny"),
        (_vtt("a"), "x\n\ny"),
        (_srt("a"), "x --> y"),
        (_vtt("a"), "x --> y"),
        (_srt("a"), "x\n00:00:01,000 --> 00:00:02,000\ny"),
        (_srt("a"), "at 00:00:01,000 and 00:00:02,000"),
        (_vtt("a"), "at 00:01.000 and 00:02.000"),
        (_srt("a"), "<i>x</i>"),
        (_srt("a"), "x < y > z"),
        (_srt("a"), "{\\an8}x"),
        (_srt("a"), "the answer\n42"),
        (_srt("a"), " \n "),
        (_ass("a"), "{x}"),
        (_ass("a"), "x } y"),
        (_ass("a"), "x\\Ny"),
        (_ass("a"), ""),
        (_srt("a"), "x\\Ny"),
        (_srt("a"), "x\x00"),
        (_srt("a"), "x\u2028y"),
    ],
)
def test_what_would_change_the_file_is_refused(source: str, translation: str) -> None:
    document = Subtitles(source)
    with pytest.raises(ParentRefused) as caught:
        document.dispatch("c1", (translation,))
    assert caught.value.reason == "STRUCTURE"
    assert document.render() == source.encode()


def test_an_open_brace_may_not_take_in_the_next_tag() -> None:
    with pytest.raises(ParentRefused):
        Subtitles(_srt("one {\\an8}two")).dispatch("c1", ("{eins ", "zwei"))


def test_a_blank_line_that_the_source_has_may_stay() -> None:
    source = _srt("one\n\ntwo", "three")
    assert Subtitles(source).parents["c1"] == ("one\n\ntwo",)
    assert _translated(source, "eins\n\nzwei") == source.replace("one", "eins").replace("two", "zwei")
    with pytest.raises(ParentRefused):
        Subtitles(source).dispatch("c1", ("eins zwei",))


def test_a_last_line_of_digits_is_taken_where_the_next_number_follows() -> None:
    assert _translated(_srt("a", "b"), "die Antwort:\n42") == _srt("die Antwort:\n42", "b")


def test_a_last_line_of_digits_in_webvtt_is_text() -> None:
    source = _vtt("the answer\n42\n42")
    assert Subtitles(source).parents["c1"] == ("the answer\n42\n42",)
    assert _translated(source, "Antwort:\n42") == _vtt("Antwort:\n42")


def test_characters_that_the_encoding_lacks_are_refused() -> None:
    document = Subtitles(_srt("a").encode(), encoding="latin-1")
    with pytest.raises(ParentRefused) as caught:
        document.dispatch("c1", ("привет",))
    assert caught.value.reason == "ENCODING"


@pytest.mark.parametrize("text", ["just words", "1\nHello"])
def test_a_text_without_any_cue_is_no_subtitle_file(text: str) -> None:
    with pytest.raises(InvalidDocument, match="holds no cue"):
        Subtitles(text)


@pytest.mark.parametrize("text", ["", "\n\n", "WEBVTT\n", "WEBVTT\n\nNOTE nothing yet\n"])
def test_a_subtitle_file_may_be_empty(text: str) -> None:
    document = Subtitles(text)
    assert not document.parents
    assert document.render() == text.encode()
