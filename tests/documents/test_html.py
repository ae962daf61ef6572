"""Which parents a page has, and how a translation is put in."""

from __future__ import annotations

import pytest

from dragoman.documents.html import HtmlDocument
from dragoman.protocol.features import Feature, ParentRefused


def _parents(page: str) -> list[tuple[str, ...]]:
    return list(HtmlDocument(page).parents.values())


def _put(document: HtmlDocument, parent_id: str, *segments: str) -> str:
    for replacement in document.dispatch(parent_id, segments):
        replacement.apply()
    return document.render().decode()


def _shouted(page: str, *, target_language: str | None = None) -> str:
    document = HtmlDocument(page, target_language=target_language)
    for parent_id, segments in document.parents.items():
        _put(document, parent_id, *(text.replace("wort", "WORT") for text in segments))
    return document.render().decode()


def test_a_page_is_a_feature() -> None:
    document = HtmlDocument("<p>Hello")
    assert isinstance(document, Feature)
    assert document.document == "page.html"
    assert HtmlDocument("<p>Hello", document="a.html").document == "a.html"


def test_blocks_are_numbered_in_source_order() -> None:
    document = HtmlDocument("<h1>One</h1><p>Two</p><p>3</p><p>Four</p>")
    assert dict(document.parents) == {"b1": ("One",), "b2": ("Two",), "b3": ("Four",)}


@pytest.mark.parametrize(
    ("page", "parents"),
    [
        ("<p>Hello <b>big</b> world", [("Hello ", "big", " world")]),
        ("<p>Hello <b>big</b> <i>world</i></p>", [("Hello ", "big ", "world")]),
        ("<p>Hello <b> big</b></p>", [("Hello ", "big")]),
        ("<p>\n  Hello\n  world\t\n</p>", [("Hello world",)]),
        ("<p>  <b> Hello </b>  </p>", [("Hello",)]),
        ("<p>A\u00a0B&nbsp; C</p>", [("A\u00a0B\u00a0 C",)]),
        ("<p>&nbsp;Hello&#160;</p>", [("Hello",)]),
        ("<p>one<br>two<br/> three </p>", [("one ", "two", " three")]),
        ("<p>one<wbr>two</p>", [("one", "two")]),
        ("<p>o<!-- c -->ne<script>x</script>two</p>", [("o", "ne", "two")]),
        ("<x-a>one <x-b>two</x-b></x-a>", [("one ", "two")]),
        ("one<p>two</p>three", [("one",), ("two",), ("three",)]),
        ("<ul><li>one<ul><li>two</ul>three</ul>", [("one",), ("two",), ("three",)]),
        ("<table><tr><th>a<td>b</table>", [("a",), ("b",)]),
        ("<dl><dt>a<dd>b</dl>", [("a",), ("b",)]),
        ("<select><option>a<option>b</select>", [("a",), ("b",)]),
        ("<label>a <button>b</button></label>", [("a ", "b")]),
        ("<details><summary>a</summary>b</details>", [("a",), ("b",)]),
        ("<title> A &amp;\n B </title>c", [("A & B",), ("c",)]),
        ("<p>a <noscript>b</noscript>", [("a",), ("b",)]),
        ("<p>a &lt; b &ampc &copy &#x41;&#0;</p>", [("a < b &c © A\ufffd",)]),
        ("<p>a < b &c; &</p>", [("a < b &c; &",)]),
    ],
)
def test_a_parent_is_a_run_of_phrasing_content(page: str, parents: list[tuple[str, ...]]) -> None:
    assert _parents(page) == parents


@pytest.mark.parametrize("name", ["code", "kbd", "samp", "var", "svg", "math", "iframe", "textarea", "object", "video"])
def test_what_is_no_prose_stands_between_segments(name: str) -> None:
    assert _parents(f"<p>Press<{name}>abc</{name}>now") == [("Press ", "now")]
    assert _parents(f"<p>Press <{name}>abc</{name}> now") == [("Press ", "now")]
    assert _parents(f"<p>Press<{name}>abc</{name}> now") == [("Press", " now")]


def test_a_space_that_stands_elsewhere_is_not_written() -> None:
    document = HtmlDocument("<p>Press<code>x</code>now <b>or</b> <i>never</i></p>")
    assert document.parents["b1"] == ("Press ", "now ", "or ", "never")
    after = _put(document, "b1", "Drücke ", "jetzt ", "oder ", "nie")
    assert after == "<p>Drücke<code>x</code>jetzt <b>oder</b> <i>nie</i></p>"


def test_a_translation_may_leave_that_space_out() -> None:
    assert _put(HtmlDocument("<p>Hello<br>world</p>"), "b1", "你好", "世界") == "<p>你好<br>世界</p>"


@pytest.mark.parametrize(
    "page",
    [
        "<p>1 2 – 3</p><p>&nbsp;</p><p>…</p>",
        "<script>wort</script><style>wort</style><pre>wort <b>wort</b></pre><code>wort</code>",
        "<script><!-- <script> </script> wort --></script>",
        "<textarea translate=yes>wort <p>wort</textarea><template><p>wort</template>",
        "<p translate=no>wort <b>wort</b></p><p class='x notranslate'>wort</p>",
        "<p title=wort alt='wort'></p><img alt=wort><!-- wort --><!-- > wort --!><?wort?></ wort><!wort>",
        "<svg><title>wort</title><style><g></style><![CDATA[ > wort ]]></svg>",
        "<p <wort> 2",
        "<a wort",
        "<!-- wort",
        "<plaintext>wort</plaintext>wort",
    ],
)
def test_what_is_never_touched(page: str) -> None:
    assert _parents(page) == []


@pytest.mark.parametrize(
    "page",
    [
        "<p translate=no>no<p>wort",
        "<ul translate=yes><li translate=no>no<li>wort</ul>",
        "<table><tr><td translate=no>no<td>wort</table>",
        "<dl><dt translate=no>no<dd>wort</dl>",
        "<select><option translate=no>no<option>wort</select>",
        "<div translate=no>no<span translate>wort</span>no</div>",
        "<pre>no<i translate=yes>wort</i>no</pre>",
        "<p><kbd>no<p>wort",
        "<code>no<p>no</p></code>wort",
        "<p><code>no<p>no</code>wort",
        "<b translate=no>no<b translate=yes>wort</b></b>",
        "<a translate=no>no<a>wort</a>",
        "<svg>no<p>wort",
        "<svg/>wort",
        "<math><mi>no</mi></math>wort",
        "<head translate=no><title>no</title><body>wort",
        "<div translate=no>no</div></div>wort",
        "<div translate=no>no</span></p>no</div>wort",
        "<p translate='no'/>no<p>wort",
        "<script>no</script wort>wort",
        "<xmp><p>no</xmp>wort",
        "<code/>no<div>no</div></code>wort",
    ],
)
def test_a_region_that_is_not_translated_ends_where_a_browser_ends_it(page: str) -> None:
    assert "".join(text for segments in _parents(page) for text in segments) == "wort"


def test_a_stretch_never_touches_markup() -> None:
    page = "<!DOCTYPE html>\r\n<p class=x>\r\n  wort &amp; <b\r\n>wort</b>\r\n<![CDATA[x]]> wort</p>\r\n"
    assert _shouted(page) == page.replace("wort", "WORT")


def test_an_unchanged_segment_keeps_its_raw_text() -> None:
    document = HtmlDocument("<p>one\n   two &quot; <b>three</b></p>")
    assert _put(document, "b1", 'one two " ', "drei") == "<p>one\n   two &quot; <b>drei</b></p>"


def test_a_translation_is_escaped() -> None:
    document = HtmlDocument("<p>Hello</p>")
    assert _put(document, "b1", "</p><script>&amp; \"q\" 'q'") == ("<p>&lt;/p&gt;&lt;script&gt;&amp;amp; \"q\" 'q'</p>")


def test_a_translation_joins_no_reference_before_it() -> None:
    document = HtmlDocument("<p>&#160 Hello</p>")
    assert document.parents["b1"] == ("\u00a0 Hello",)
    assert _put(document, "b1", "5 Hallo") == "<p>5 Hallo</p>"


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x85", "\ud800", "\ufffe"])
def test_a_character_that_no_page_can_hold_is_refused(character: str) -> None:
    document = HtmlDocument("<p>Hello</p>")
    with pytest.raises(ParentRefused) as refused:
        document.dispatch("b1", (f"Hallo{character}",))
    assert refused.value.reason == "STRUCTURE"
    assert document.render() == b"<p>Hello</p>"


def test_a_character_that_the_page_has_already_is_not_refused() -> None:
    assert _put(HtmlDocument("<p>Hello\x7f</p>"), "b1", "Hallo\x7f") == "<p>Hallo\x7f</p>"


@pytest.mark.parametrize(
    ("page", "after"),
    [
        ("<html><body>wort", '<html dir="rtl"><body>WORT'),
        ("<HTML lang=en DIR='ltr'>wort", '<HTML lang=en DIR="rtl">WORT'),
        ("<html dir=ltr dir=ltr>wort", '<html dir="rtl" dir=ltr>WORT'),
        ("<html dir>wort", '<html dir="rtl">WORT'),
        ("<html dir= >wort", '<html dir= "rtl">WORT'),
        ("<!-- <html> --><body id=x>wort", '<!-- <html> --><body dir="rtl" id=x>WORT'),
        ("<svg><html></svg><div><p>wort</p>1</div>", '<svg><html></svg><div><p dir="rtl">WORT</p>1</div>'),
        ("<div><p>wort<p>1</p>wort</div>", '<div dir="rtl"><p dir="rtl">WORT<p>1</p>WORT</div>'),
        ("<div>wort<p>1</p>wort</div>", '<div dir="rtl">WORT<p>1</p>WORT</div>'),
        ("1 <b>wort</b>", "1 <b>WORT</b>"),
        ("<html><p>1", "<html><p>1"),
    ],
)
def test_a_page_in_a_language_from_right_to_left_says_so(page: str, after: str) -> None:
    assert _shouted(page, target_language="ar") == after


def test_the_direction_stays_where_nothing_was_translated_or_is_taken_back() -> None:
    document = HtmlDocument("<html><p>Hello</p>", target_language="he")
    assert document.render() == b"<html><p>Hello</p>"
    (replacement,) = document.dispatch("b1", ("שלום",))
    replacement.apply()
    assert document.render().decode() == '<html dir="rtl"><p>שלום</p>'
    replacement.undo()
    assert document.render() == b"<html><p>Hello</p>"


def test_a_language_from_left_to_right_sets_no_direction() -> None:
    assert _shouted("<html dir=rtl>wort", target_language="de") == "<html dir=rtl>WORT"


def test_xhtml_survives() -> None:
    page = (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>wort</title><script type="x">//<![CDATA[\n'
        "a < b\n//]]></script></head><body><p>wort<br/>wort<img src='x'/></p></body></html>"
    )
    assert HtmlDocument(page).render() == page.encode()
    assert _shouted(page) == page.replace("wort", "WORT")


def test_no_repr_shows_a_text() -> None:
    document = HtmlDocument("<p title=secret>secret</p>")
    assert "secret" not in repr(document)
    assert "secret" not in repr(list(document._blocks.values()))
    assert "secret" not in repr(document._holders)
    assert "secret" not in repr(list(document._written(document._blocks["b1"], ("secrets",))))
