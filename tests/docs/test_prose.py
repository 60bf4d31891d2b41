"""README, CONTRIBUTING and docs/ are in plain English, by the phrases that CONTRIBUTING.md (Style) speaks against, and short.

No linter of PyPI finds them: proselint 0.16 and codespell 2.4 know none of the phrases.
"""

import re
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

LONGEST = 30  # words of a sentence, without code and numbers


def prose(text):
    """The text without code, formulas, links' addresses and tables of a program; lines stay where they are."""

    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])

    for pattern in (r"^---\n.*?\n---\n", r"^```.*?^```", r"^<!-- (.*?), written by.*?^<!-- end of \1 -->", r"^    .*$"):
        text = re.sub(pattern, blank, text, flags=re.MULTILINE | re.DOTALL if "?" in pattern else re.MULTILINE)
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]*`|\]\([^)]*\)", blank, text, flags=re.DOTALL)


def phrases(text):
    """The phrases of a text, each with its line and the advice."""
    return [
        f"line {text.count(chr(10), 0, place.start()) + 1}: {' '.join(place[0].split())!r}: {advice}"
        for pattern, advice in PHRASES.items()
        for place in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE)
    ]


def complicated(text):
    """Sentences of more than LONGEST words, or with two clauses that begin with "which"; no tables and headings."""
    plain = re.sub(r"^(\||#|!\[|\[).*$", "", text, flags=re.MULTILINE)
    paragraphs = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s", plain, flags=re.MULTILINE)
    sentences = [one for part in paragraphs for one in re.split(r"(?<=[.:;?!])[*_)\"]*\s+", " ".join(part.split()))]
    words = [re.findall(r"[^\W\d][\w'’]*", one) for one in sentences]
    return [" ".join(own) for own in words if len(own) > LONGEST or [w.lower() for w in own].count("which") > 1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_in_plain_english(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "CONTRIBUTING.md":  # whose section on style quotes the phrases
        before, _, rest = text.partition("## Style\n")
        text = before + rest.partition("\n## ")[2]
    assert phrases(prose(text)) == []
    assert complicated(prose(text)) == []


def test_the_documentation_is_short():
    assert len(DOCS) <= 22
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in DOCS) <= 18_000
