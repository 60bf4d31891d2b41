"""The libraries in turn."""

import pytest
from boosted import LIBRARIES


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]
