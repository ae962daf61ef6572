"""Pages of any blocks in any containers: what is not translated stays, and what is changes nothing but texts."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.documents.markdown import MarkdownDocument
from dragoman.protocol.features import ParentRefused

from .markdown_oracle import runs, skeleton

_WORDS = st.sampled_from(["word", "Zwei Wörter", "x", "3 * 4", "snake_case", "a&b", "1.", "C#", "語", "…", "f(x)", "-"])
_ATOMS = st.one_of(
    _WORDS,
    _WORDS,
    st.sampled_from(
        [
            "`code`",
            "`` a ` b ``",
            "![alt](pic.png 'title')",
            "<https://example.org/a_b>",
            "<br>",
            "&amp;",
            "\\*",
            "\\|",
            "[ref]",
            "[text][ref]",
            "[ref][]",
            "**",
            "~",
            "[y]",
            "<!-- c -->",
        ]
    ),
)
_MARKED = st.builds(
    "{0[0]}{1}{0[1]}".format,
    st.sampled_from(
        [("*", "*"), ("**", "**"), ("_", "_"), ("~~", "~~"), ("[", "](/url)"), ("<b>", "</b>"), ("***", "***")]
    ),
    st.recursive(_ATOMS, lambda inner: st.builds("{} *{}*".format, inner, inner), max_leaves=3),
)
_INLINE = st.lists(st.one_of(_ATOMS, _MARKED), min_size=1, max_size=5)
_JOINTS = st.sampled_from([" ", " ", " ", "", "\n", "  \n", "\\\n", " \n   ", "\t"])


@st.composite
def _texts(draw: st.DrawFn, lines: bool = True) -> str:
    atoms = draw(_INLINE)
    text = atoms[0]
    for atom in atoms[1:]:
        joint = draw(_JOINTS)
        text += (joint if lines else joint.replace("\n", " ")) + atom
    return text


@st.composite
def _tables(draw: st.DrawFn) -> str:
    columns = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(_texts(lines=False), min_size=columns, max_size=columns), min_size=1, max_size=3))
    lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\\\\|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * columns, *lines[1:]])


_LEAVES = st.one_of(
    _texts(),
    _texts(),
    st.builds("{} {}".format, st.sampled_from(["#", "##", "######"]), _texts(lines=False)),
    st.builds("{}\n{}".format, _texts(), st.sampled_from(["===", "---", "-"])),
    _tables(),
    st.sampled_from(
        ["```\ncode *x*\n```", "    code", "<div>\nraw *x*\n</div>", "***", "[other]: /o 'title'", "| a |", "$x_1$"]
    ),
)


def _contained(block: str, marker: str) -> str:
    first, *rest = block.split("\n")
    following = marker if marker.startswith(">") else " " * len(marker)
    return "\n".join([marker + first, *(following + line if line else line for line in rest)])


_BLOCKS = st.recursive(
    _LEAVES,
    lambda inner: st.builds(
        _contained,
        st.lists(inner, min_size=1, max_size=3).map("\n\n".join),
        st.sampled_from(["> ", ">", "- ", "1. ", "10) ", "*   "]),
    ),
    max_leaves=4,
)
_PAGES = st.builds(
    lambda blocks, joint, end: joint.join([*blocks, "[ref]: /ref 'title'"]) + end,
    st.lists(_BLOCKS, min_size=1, max_size=5),
    st.sampled_from(["\n\n", "\n\n\n", "\n"]),
    st.sampled_from(["\n", "", "\n\n"]),
)
_HOSTILE = st.text(alphabet="ab é語*_~`[]()<>!&;#-+=.1|\\ \n\"'$:^{}x", max_size=12)


@given(_PAGES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_page_that_is_not_translated_is_itself(page: str, line_end: str) -> None:
    source = page.replace("\n", line_end).encode()
    assert MarkdownDocument(source).render() == source


@given(_PAGES, st.sampled_from(["\n", "\r\n"]), st.data())
def test_whatever_is_taken_changes_nothing_but_the_texts(page: str, line_end: str, data: st.DataObject) -> None:
    """What begins and ends as its source does is always taken (but for stray
    marks in the source); anything else is taken or refused."""
    document = MarkdownDocument(page.replace("\n", line_end))
    framed = data.draw(st.booleans())
    taken: dict[str, tuple[str, ...]] = {}
    for parent_id, segments in document.parents.items():
        drawn = [data.draw(_HOSTILE) for _ in segments]
        texts = tuple(_framed(segment, text) if framed else text for segment, text in zip(segments, drawn, strict=True))
        try:
            replacements = document.dispatch(parent_id, texts)
        except ParentRefused:
            assert not framed or _has_marks(segments)
            continue
        for replacement in replacements:
            replacement.apply()
        taken[parent_id] = texts
    result = document.render().decode().replace("\r\n", "\n")
    assert skeleton(result) == skeleton(page)
    assume(not document.unplaced)
    assert _said(result) == _expected(page, document, taken)


def _has_marks(segments: tuple[str, ...]) -> bool:
    """Whether a text has characters that emphasis is made of: escaped, they part what touched them before."""
    return any(mark in segment for segment in segments for mark in "*_~")


def _framed(segment: str, text: str) -> str:
    core = segment.strip()
    return segment.replace(core, f"{core[0]}ä{text}ö{core[-1]}", 1)


def _said(page: str) -> list[list[str]]:
    return [[" ".join(text.split()) for text in block] for block in runs(page)]


def _expected(page: str, document: MarkdownDocument, taken: dict[str, tuple[str, ...]]) -> list[list[str]]:
    parents = iter(document.parents.items())
    expected: list[list[str]] = []
    for block in runs(page):
        if any(map(str.isalpha, "".join(block))):
            parent_id, segments = next(parents)
            assert [segment.strip() for segment in segments] == block
            block = [text for text in taken.get(parent_id, segments) if text.strip()]
        expected.append([" ".join(text.split()) for text in block])
    return [block for block in expected if block]
