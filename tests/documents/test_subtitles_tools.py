"""Subtitle files as tools write them: ffmpeg, where it is installed, and pysubs2."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pysubs2
import pytest

from dragoman.documents.subtitles import Subtitles

_FORMATS = ("srt", "vtt", "ass")
_SOURCE = """1
00:00:01,000 --> 00:00:02,500
<i>Hello</i> there, my <b>friend</b>.

2
00:00:03,000 --> 00:00:04,000
- Who is it?
- R&D < 3 people.

3
00:00:05,250 --> 00:00:06,750
{\\an8}<font color="#ff0000">Above all</font>

4
00:00:07,000 --> 00:00:08,000
♪ ♪

"""


def _words(text: str) -> str:
    return re.sub(r"[^\W\d_]+", lambda word: word[0][::-1] + "q", text)


def _ffmpeg() -> str | None:
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        return None
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError:
        return None


def _by_ffmpeg(kind: str, folder: Path) -> bytes:
    program = _ffmpeg()
    if program is None:
        pytest.skip("ffmpeg is not there: pip install imageio-ffmpeg")
    source, target = folder / "source.srt", folder / f"target.{kind}"
    source.write_text(_SOURCE, encoding="utf-8")
    command = [program, "-loglevel", "error", "-nostdin", "-y", "-i", str(source), str(target)]
    subprocess.run(command, check=True, timeout=60)
    return target.read_bytes()


def _by_pysubs2(kind: str, _folder: Path) -> bytes:
    subtitles = pysubs2.SSAFile.from_string(_SOURCE, format_="srt")
    subtitles.styles["Default"].italic = kind == "ass"
    return subtitles.to_string(kind).encode()


@pytest.mark.parametrize("kind", _FORMATS)
@pytest.mark.parametrize("tool", [_by_ffmpeg, _by_pysubs2], ids=["ffmpeg", "pysubs2"])
class TestAFileOfATool:
    def test_it_is_itself_if_nothing_is_translated(
        self, tool: Callable[[str, Path], bytes], kind: str, tmp_path: Path
    ) -> None:
        raw = tool(kind, tmp_path)
        document = Subtitles(raw)
        assert document.render() == raw
        assert document.format == kind
        assert list(document.parents) == ["c1", "c2", "c3"]

    def test_its_translation_has_the_same_times_styles_and_tags(
        self, tool: Callable[[str, Path], bytes], kind: str, tmp_path: Path
    ) -> None:
        raw = tool(kind, tmp_path)
        document = Subtitles(raw)
        for parent_id, segments in document.parents.items():
            for replacement in document.dispatch(parent_id, tuple(map(_words, segments))):
                replacement.apply()
        before = pysubs2.SSAFile.from_string(raw.decode())
        after = pysubs2.SSAFile.from_string(document.render().decode())
        assert after.styles == before.styles
        assert after.info == before.info
        for old, new in zip(before, after, strict=True):
            assert (new.start, new.end, new.style) == (old.start, old.end, old.style)
            assert re.findall(r"\{[^}]*\}", new.text) == re.findall(r"\{[^}]*\}", old.text)
            assert _unescaped(new.plaintext) == _words(_unescaped(old.plaintext))


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
