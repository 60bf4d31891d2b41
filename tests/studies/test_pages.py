"""Pages show the committed results."""

import json

import pytest

from studies import pages
from studies.dalitz import report as dalitz
from studies.limit import report as limit
from studies.simple_model import report as simple_model
from studies.trees import report as trees
from studies.w_tagging import report as w_tagging
from studies.zoo import report as zoo
from studies.zoo import study as zoo_study


def stored(path):
    return json.loads(path.read_text())["results"]


SHOWN = {
    "dalitz": (lambda: dalitz.tables(dalitz.committed()), dalitz.REST),
    "limit": (lambda: limit.tables(limit.limits()), limit.REST),
    "simple_model": (simple_model.all_tables, simple_model.REST),
    "trees": (lambda: trees.tables(stored(trees.RESULTS)), trees.REST),
    "w_tagging": (w_tagging.tables, w_tagging.REST),
    "zoo": (lambda: zoo.tables(zoo_study.stored()), zoo.REST),
}


@pytest.mark.parametrize("study", SHOWN)
def test_a_page_shows_the_committed_results(study):
    tables, rest = SHOWN[study]
    for name, table in tables().items():
        assert pages.shown(name, rest) == table
