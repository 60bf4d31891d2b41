"""Every tutorial, executed as it stands: ./build.sh test-full. pytest collects this file where it is named."""

import pytest
from tutorials import CLAIMS, complaints, notebooks, outputs, printed


@pytest.mark.parametrize("name", notebooks.names())
def test_it_prints_and_draws_what_its_text_says(name):
    notebook = notebooks.execute(name)
    assert complaints(notebook) == []
    CLAIMS[name](printed(notebook))
    kinds = [[out.output_type for out in outputs(of)] for of in (notebook, notebooks.stored(name))]
    assert kinds[0].count("display_data") == kinds[1].count("display_data") > 0
