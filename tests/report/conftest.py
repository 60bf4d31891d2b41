"""What the tests of the report read."""

import pytest
import report_toys


@pytest.fixture(scope="session")
def toy():
    return report_toys.events()


@pytest.fixture(scope="session")
def files(toy, tmp_path_factory):
    """The toy in every format, by suffix."""
    folder = tmp_path_factory.mktemp("files")
    return {suffix: report_toys.write(folder / f"toy.{suffix}", toy) for suffix in report_toys.SUFFIXES}


@pytest.fixture(scope="session")
def file(files):
    return files["parquet"]
