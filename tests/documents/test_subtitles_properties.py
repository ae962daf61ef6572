"""Files of any cues: what is not translated stays; of what is, pysubs2 reads the new texts and all else as before."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pysubs2
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents.subtitles import Subtitles
from dragoman.protocol.features import ParentRefused

_WORDS = st.sampled_from(["Hello", "-", "Où ça?", "42", "語", "♪", "a < b", "R&D", "two words", "{", "…"])
_TAGS = {
    "srt": ["<i>", "</i>", '<font color="red">', "</font>", "{\\an8}", "< b >", "<br/>"],
    "vtt": ["<i>", "</i>", "<v Bob>", "</v>", "<c.red>", "<00:01.500>", "&amp;", "&lt;"],
    "ass": ["{\\i1}", "{\\r}", "{a note}", "{\\pos(1,2)\\b1}", "{\\p1}m 0 0 l 9 9{\\p0}", "\\h", ","],
}
_HOSTILE = st.text(alphabet="ab é語<>&;{}\\Nhi1/:.,-\n!", max_size=10)


@st.composite
def _cues(draw: st.DrawFn, kind: str) -> str:
    pieces = draw(st.lists(st.one_of(_WORDS, _WORDS, st.sampled_from(_TAGS[kind])), max_size=6))
    joints = draw(st.lists(st.sampled_from([" ", "", "\n"]), min_size=len(pieces), max_size=len(pieces)))
    lines = "".join(piece + joint for piece, joint in zip(pieces, joints, strict=True)).split("\n")
    text = "\n".join(line for line in lines if line.strip()).strip()
    return text.replace("a < b", "a &lt; b").replace("42", "4x") if kind == "vtt" else text


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, str]:
    kind = draw(st.sampled_from(["srt", "vtt", "ass"]))
    texts = draw(st.lists(_cues(kind), max_size=5))
    starts = draw(st.lists(st.integers(0, 59), min_size=len(texts), max_size=len(texts)))
    source = {
        "srt": "",
        "vtt": "WEBVTT\n\nNOTE\nno text\n\n",
        "ass": "[Script Info]\n; x\n\n[V4+ Styles]\n\n[Events]\n",
    }[kind]
    for number, (text, start) in enumerate(zip(texts, starts, strict=True), 1):
        if kind == "ass":
            name = draw(st.sampled_from(["Dialogue", "Dialogue", "Comment"]))
            line = text.replace("\n", "\\N")
            source += f"{name}: 0,0:00:{start:02}.00,0:01:00.50,Default,,0,0,0,,{line}\n"
            continue
        mark, settings = (".", " align:start") if kind == "vtt" else (",", "")
        head = draw(st.sampled_from([f"{number}\n", ""]))
        source += f"{head}00:00:{start:02}{mark}000 --> 00:01:00{mark}500{settings}\n{text}\n\n"
    return kind, source.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))


def _unix(source: str) -> str:
    return re.sub("\r\n?", "\n", source)


def _tags(kind: str, text: str) -> list[str]:
    if kind == "ass":
        return re.findall(r"\{[^}]*\}", text)
    return re.findall(r"<[^>]*>", text)


def _read(kind: str, source: str) -> list[pysubs2.SSAEvent]:
    text = re.sub("<00:[0-9.:]+>", "", _unix(source)) if kind == "vtt" else _unix(source)
    return pysubs2.SSAFile.from_string(text, format_=kind, keep_html_tags=True).events


def _plain(kind: str, text: str) -> str:
    """All that is no tag and no white space."""
    if kind == "ass":
        text = re.sub(r"\{[^}]*\}", "", re.sub(r"\{\\p1\}[^{]*", "", text))
        return "".join(re.sub(r"\\[Nnh]", " ", text).split())
    text = text.replace("\\N", "\n")
    if kind == "srt":
        text = re.sub(r"\{\\[^{}]*\}|< */? *[a-zA-Z][^>]*>", "", text)
    else:
        text = re.sub(r"<[^>]*>", "", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return "".join(text.split())


@given(_files())
def test_a_file_that_is_not_translated_is_itself(file: tuple[str, str]) -> None:
    kind, source = file
    document = Subtitles(source.encode(), document=f"x.{kind}")
    assert document.render() == source.encode()
    assert document.format == kind


@given(_files(), st.data())
def test_whatever_is_taken_changes_nothing_but_the_texts(file: tuple[str, str], data: st.DataObject) -> None:
    kind, source = file
    document = Subtitles(source, document=f"x.{kind}")
    before = _read(kind, source)
    order = [event for event in before if not event.is_comment]
    heard = {f"c{number}": event for number, event in enumerate(sorted(order, key=lambda event: event.start), 1)}
    texts = {id(event): event.text for event in before}
    taken: dict[int, tuple[str, ...]] = {}
    for parent_id, segments in document.parents.items():
        # pysubs2 takes a last line of digits in WebVTT for the number of the next cue, which it is not.
        hostile = _HOSTILE.map(lambda text: text.replace("1", "x")) if kind == "vtt" else _HOSTILE
        translation = tuple(data.draw(st.one_of(st.just(segment), hostile)) for segment in segments)
        if _apply(document, parent_id, translation):
            taken[id(heard[parent_id])] = translation
    after = _read(kind, document.render().decode())
    assert [(it.start, it.end, it.style, it.type) for it in after] == [
        (it.start, it.end, it.style, it.type) for it in before
    ]
    for old, new in zip(before, after, strict=True):
        assert _tags(kind, new.text) == _tags(kind, texts[id(old)]) or kind == "srt"
        translated = taken.get(id(old))
        if translated is None:
            assert new.text == old.text
        else:
            assert _plain(kind, new.text) == "".join("".join(translated).split())


@given(_files())
def test_other_words_are_always_taken(file: tuple[str, str]) -> None:
    kind, source = file
    document = Subtitles(source, document=f"x.{kind}")
    for parent_id, segments in document.parents.items():
        assert _apply(document, parent_id, tuple(re.sub(r"[^\W\d_]+", "Wört-x", segment) for segment in segments))


def _apply(document: Subtitles, parent_id: str, translation: Sequence[str]) -> bool:
    try:
        replacements = document.dispatch(parent_id, tuple(translation))
    except ParentRefused:
        return False
    for replacement in replacements:
        replacement.apply()
    return True
