"""The judgment by test jets; its numbers are those of the page, which test_pages.py computes again."""

import json

import numpy as np

from studies.w_tagging import sample, testing


def test_test_jets_are_added_to_those_that_there_are(monkeypatch, tmp_path, capsys):
    """From the trainings to the tables, on few jets: those of the tree stand in for jets for testing."""
    tree = sample.load()
    monkeypatch.chdir(tmp_path)
    qcd = np.flatnonzero(tree.label == 0)
    for seed, some in ((1, qcd[:6_000]), (2, qcd[6_000:12_000])):
        arrays = {name: getattr(tree, name)[some] for name in sample.ARRAYS if name != "features"}
        sample.write(sample.Sample(tree.names, tree.features[some], **arrays), sample.testing(seed), labels=(0,))
        monkeypatch.setattr("sys.argv", ["testing", "--quick", "--seed", str(seed), "--processes", "1"])
        testing.main()
    path = tmp_path / "build/studies/testing-quick.json"
    found = json.loads(path.read_text())["test jets"]
    assert list(found) == ["1", "2"] and found["1"]["jets"] == 6_000
    assert found["1"]["spectrum"] != found["2"]["spectrum"]
    counts = found["2"]["trainings"]["1"]
    assert len(counts) == len(testing.OF_QUICK) + len(testing.ORDERS)
    for one in counts.values():
        assert 0 < sum(one["spectrum"]) <= one["kept"] < 6_000 and one["residual"] > 0 < one["expected"]
    # A map of order 0 is flatter than what it maps.
    assert counts[testing.key(testing.mapped(0), 0)]["residual"] < counts["unconstrained, strength 0"]["residual"]
