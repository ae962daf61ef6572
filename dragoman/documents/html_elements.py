"""The elements of HTML, by what they are to a reader and to a parser."""

from __future__ import annotations

__all__ = [
    "BLOCK",
    "BREAKOUT",
    "CLOSES_BESIDE",
    "FORMATTING",
    "HEAD",
    "HEADINGS",
    "IMPLIED_END",
    "MARKED",
    "P_CLOSING",
    "RAW",
    "ROWS",
    "SCOPES",
    "SPECIAL",
    "STANDING",
    "TABLE_PARTS",
    "TEXT_IN_FOREIGN",
    "UNTOUCHED",
    "VOID",
]


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


HEADINGS = _names("h1 h2 h3 h4 h5 h6")

BLOCK = HEADINGS | _names(
    """
    address article aside blockquote body caption center col colgroup datalist dd details dialog dir div dl dt fieldset
    figcaption figure footer form frame frameset head header hgroup hr html legend li listing main marquee menu nav
    noframes noscript ol optgroup option p plaintext pre search section select summary table tbody td tfoot th thead
    title tr ul xmp
    """
)
"""At whose tags a parent ends: what is not phrasing content, and what in it is no part of the sentence around it."""

STANDING = _names("applet audio br canvas embed iframe img input keygen math noembed object svg textarea video")
"""Phrasing content that stands between words, and is none itself."""

UNTOUCHED = _names(
    "applet audio canvas code iframe kbd listing math noembed noframes object plaintext pre samp script style svg "
    "template textarea var video xmp"
)
"""What is in them is no prose, or is not shown."""

RAW = _names("iframe noembed noframes plaintext script style textarea title xmp")
"""What has no markup in it."""

VOID = _names(
    "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr"
)

HEAD = _names("base basefont bgsound head link meta noframes noscript script style template title")
"""What may stand in the head; anything else ends it."""

FORMATTING = _names("a b big code em font i nobr s small strike strong tt u")
"""What is opened again in the next block, where its end tag is missing."""

SPECIAL = (BLOCK - _names("datalist dialog legend option optgroup title")) | _names(
    "applet area base basefont bgsound br button embed iframe image img input keygen link meta noembed object param "
    "script source style template textarea title track wbr"
)
"""What an end tag of an ordinary element never closes."""

P_CLOSING = HEADINGS | _names(
    """
    address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form
    header hgroup hr li listing main menu nav ol p plaintext pre search section summary ul xmp
    """
)

IMPLIED_END = _names("dd dt li optgroup option p rb rp rt rtc")

CLOSES_BESIDE = {
    "optgroup": _names("optgroup option"),
    "option": _names("option"),
    "rb": _names("rb rp rt rtc"),
    "rp": _names("rb rp rt"),
    "rt": _names("rb rp rt"),
    "rtc": _names("rb rp rt rtc"),
}
"""What a start tag closes if it is the innermost element that is open."""

_SCOPE = _names("applet caption html marquee object table td template th") | _names(
    "*annotation-xml *desc *foreignobject *mi *mn *mo *ms *mtext *title"
)
SCOPES = {
    "": _SCOPE,
    "button": _SCOPE | {"button"},
    "list": _SCOPE | {"ol", "ul"},
    "table": _names("html table template"),
}
"""What the search for an open element does not look beyond; an asterisk marks what is SVG or MathML."""

BREAKOUT = HEADINGS | _names(
    """
    b big blockquote body br center code dd div dl dt em embed head hr i img li listing menu meta nobr ol p pre ruby s
    small span strike strong sub sup table tt u ul var
    """
)
"""What ends SVG and MathML, since it cannot be in them."""

TABLE_PARTS = {
    "caption": ("table",),
    "col": ("colgroup", "table"),
    "colgroup": ("table",),
    "tbody": ("table",),
    "td": ("tr", "tbody", "tfoot", "thead", "table"),
    "tfoot": ("table",),
    "th": ("tr", "tbody", "tfoot", "thead", "table"),
    "thead": ("table",),
    "tr": ("tbody", "tfoot", "thead", "table"),
}
"""Down to which elements a start tag in a table closes the others."""

ROWS = _names("table tbody tfoot thead tr")
"""A text in these, and in no cell, goes before the table."""

MARKED = _names("applet caption marquee object td template th")
"""No formatting goes on from outside of these into them, or out of them."""

TEXT_IN_FOREIGN = _names("*annotation-xml *desc *foreignobject *mi *mn *mo *ms *mtext *title")
"""The elements of SVG and MathML in which HTML may stand."""
