"""README, CONTRIBUTING and docs/ are in plain English, by the phrases that CONTRIBUTING.md (Style) speaks against, and short.

No linter of PyPI finds them: proselint 0.16 and codespell 2.4 know none of the phrases.
"""

import ast
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]

#: What a physicist from Chicago would not write, with what to write in its place.
PHRASES = {
    r"\b(that|those) of (that|those|these)\b": "repeat the noun",
    r"\bof (those|these) (of|that|which)\b": "repeat the noun",
    r"\bthose (that|which|who)\b": "a noun in place of 'those'",
    r"\bwhich nobody\b": "say who does what",
    r"\bnobody (asks|knows|has|can|trains|looks|chose)\b": "say who does what",
    r"\bdo(es)? to the mass\b": "sculpt the mass",
    r"\bcan(not)? tell\b(?! apart| from)": "a test sees no difference",
    r"\btake (\w+ )?for (one|a signal|signal|background)\b": "mistake for",
    r"\bnever is\b|\bnever (negative|0|zero)\b": "is always",
    r"\bare to be had\b|\bis to be had\b": "there is",
    r"\bit has to\b": "say when it must",
    r"\bwhat (the|a) number of events (makes|alone|adds)\b": "from statistics alone",
    r"\bwhat is (left|there|kept|known|wrong|asked|shown|found|meant|selected|protected)\b": "name the thing",
    r"\bhave (none|it) of their own\b": "name the thing",
    r"\bor has (it|none), (where|if)\b": "two sentences",
    r"\bno \w+ that you would not\b": "say it without the double negation",
    r"\bas \w+ as (can be|\w+ (events|jets) can)\b(?! seen)": "a test sees no difference",
    r"\bnot at all, linearly\b": "none, linear, quadratic",
    r"\bbeside (that|those) (of|with|without)\b": "next to, with the noun",
    r"\bof one's own\b|\bwhatever is there\b": "name the thing",
    r"\b(col|fav|harb|behavi|neighb)our|\b(cent|met|fib)re[ds]?\b|\bgrey|\blicence|\banalys(e|ed|ing)\b|"
    r"\b(label|model|travel|cancel)l(ed|ing)\b|"
    r"\b(optim|normal|minim|maxim|general|regular|initial|categor|parametr|summar|real|visual|standard)is(e|ing|ation)": "American",
}

#: Words of the glossary (docs/faq.md) have no synonyms on other pages.
SYNONYMS = {
    r"\bfalse positive rate": "background efficiency",
    r"\bresidual (over|relative to) (its )?(expected|expectation)|\btimes chance\b|\bnumber of events alone\b": "over its value by chance",
    r"\bfake signal\b|\bsignal bias\b|\binduced signal\b": "spurious signal",
    r"\b(size|gain|factor|amplitude) of the push\b": "scale",
    r"\b(coefficient|prefactor|lambda) of (the loss|MoDe)": "strength",
    r"\bprotected variable|\bsensitive (variable|attribute)": "mass",
    r"\bdiscriminant value|\bclassifier output": "score",
}

LONGEST = 30  # words of a sentence, without code and numbers


def prose(text):
    """The text without code, formulas, links' addresses and tables of a program; lines stay where they are."""

    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])

    for pattern in (r"^---\n.*?\n---\n", r"^```.*?^```", r"^<!-- (.*?), written by.*?^<!-- end of \1 -->", r"^    .*$"):
        text = re.sub(pattern, blank, text, flags=re.MULTILINE | re.DOTALL if "?" in pattern else re.MULTILINE)
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]*`|\]\([^)]*\)", blank, text, flags=re.DOTALL)


def found_in(text):
    """The phrases of a text, each with its line and the advice."""
    plain = prose(text)
    return [
        f"line {plain.count(chr(10), 0, place.start()) + 1}: {' '.join(place[0].split())!r}: {advice}"
        for pattern, advice in PHRASES.items()
        for place in re.finditer(pattern.replace(" ", r"\s+"), plain, re.IGNORECASE)
    ]


def sentences(text):
    """Those of paragraphs and lists, as lists of words; table rows and headings are left out."""
    plain = re.sub(r"^(\||#|!\[|\[).*$", "", prose(text), flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s", plain, flags=re.MULTILINE):
        for sentence in re.split(r"(?<=[.:;?!])[*_)\"]*\s+", " ".join(paragraph.split())):
            yield re.findall(r"[^\W\d][\w'’]*", sentence)


def complicated(text):
    """Sentences of more than LONGEST words, or with two clauses that begin with "which"."""
    return [
        " ".join(words)
        for words in sentences(text)
        if len(words) > LONGEST or [w.lower() for w in words].count("which") > 1
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_in_plain_english(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "CONTRIBUTING.md":  # whose section on style quotes the phrases
        before, _, rest = text.partition("## Style\n")
        text = before + rest.partition("\n## ")[2]
    assert found_in(text) == []
    assert complicated(text) == []


GLOSSARY = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8").partition("## Words\n")[2]


@pytest.mark.parametrize("page", [PAGES[0], *DOCS], ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_the_words_of_the_glossary(page):
    text = prose(page.read_text(encoding="utf-8").partition("## Words\n")[0])
    assert [
        (" ".join(found[0].split()), word) for was, word in SYNONYMS.items() for found in re.finditer(was, text, re.I)
    ] == []


def test_the_glossary_has_words_that_pages_use():
    words = [word for row in re.findall(r"^\| (.+?) \|", GLOSSARY, re.MULTILINE)[1:] for word in row.split(", ")]
    assert len(words) >= 20 and set(SYNONYMS.values()) - {"over its value by chance"} <= set(words)
    pages = [prose(page.read_text(encoding="utf-8").partition("## Words\n")[0]).lower() for page in DOCS]
    assert [word for word in words if sum(word.lower() in page for page in pages) < 3] == []


def test_the_documentation_is_short():
    assert len(DOCS) <= 35
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in DOCS) <= 32_000


GO = sorted(path for folder in ("core", "capi") for path in (ROOT / folder).rglob("*.go"))


@pytest.mark.parametrize("path", GO, ids=lambda path: str(path.relative_to(ROOT)))
def test_comments_in_go_have_none_of_the_phrases(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    comments = [line.partition("//")[2] for line in lines if not line.lstrip().startswith("//go:")]
    assert found_in("\n".join(line.removeprefix(" ") for line in comments)) == []


PACKAGE = ROOT / "python" / "libmode"
PYTHON = sorted(PACKAGE.rglob("*.py"))


def docstrings_and_comments(path):
    """The text of a Python file without its code; lines stay where they are."""
    text = path.read_text(encoding="utf-8")
    lines = [""] * len(text.splitlines())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines[node.lineno - 1 : node.end_lineno] = text.splitlines()[node.lineno - 1 : node.end_lineno]
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT:
                lines[token.start[0] - 1] = token.string.lstrip("#: ")
    return "\n".join(line.strip() for line in lines)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstrings_and_comments_in_python_have_none_of_the_phrases(path):
    assert found_in(docstrings_and_comments(path)) == []


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_names_in_python_say_what_a_thing_is(path):
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    assert not names & {"found", "given"}
    assert not [name for name in functions if name.endswith("_of")]
