"""The study of the zoo: every kind of training runs, the judge is right, and what is interrupted goes on."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from libmode import TrainingWarning
from scipy.stats import ks_2samp

from studies.zoo import judge, problems, report, study, train
from studies.zoo.events import Events
from studies.zoo.problems import PROBLEMS, Problem
from studies.zoo.study import Task, measured

TRAININGS = [
    Task("scan, order 1", "MoDeConstraint", None, 1, epochs=1 / 16),
    Task("simple, order 1", "MoDeConstraint", None, 1, batch=256, epochs=1 / 16),
    Task("simple, order 1", "MoDeLoss", 30, 1, epochs=1 / 16),
    Task("Dalitz plane, order 0", "DisCo", 1, 1, epochs=1 / 16),
    Task("modified, order 2, monotonic", "none", None, 1, epochs=1 / 16),
    Task("slices, order 0", "MoDeConstraint", None, 1, epochs=1 / 16),
    Task("slices, order 0", "MoDeLoss", 30, 1, epochs=1 / 16, planed=True),
    Task("steep, order 1", "none", None, 1, epochs=1 / 16, mapped=True),
]
LINE = Problem(lambda seed: None, {"order": 1})


@pytest.mark.parametrize("task", TRAININGS, ids=lambda task: f"{task.problem}, {task.method}")
def test_a_training(task):
    found = measured(task)
    assert 0.5 < found["auc"] < 1 and found["r50"] > 1
    assert task.method == "MoDeConstraint" or found["says"] == []  # a layer may say that so few batches are not enough
    assert {"80 %", "50 %", "20 %", "1e-2"} <= set(found["cuts"])
    for one in found["cuts"].values():
        assert one["ratio"] == pytest.approx(one["residual"] / np.hypot(one["test"], one["train"]), rel=1e-3)


@pytest.mark.parametrize("name", ["tagger", "steep", "slices", "slices without weights"])
def test_training_and_test_of_a_problem_have_one_distribution(name):
    training, test = PROBLEMS[f"{name}, order 0"].draw(1)
    low, high = PROBLEMS[f"{name}, order 0"].options["mass_range"]
    for label in (0, 1):
        a, b = (one[one.label == label] for one in (training, test))
        for x, y in zip([*a.features.T, a.mass, a.weight], [*b.features.T, b.mass, b.weight], strict=True):
            error = np.hypot(x.std(dtype=float) / len(x) ** 0.5, y.std(dtype=float) / len(y) ** 0.5)
            assert abs(x.mean(dtype=float) - y.mean(dtype=float)) < 5 * error + 1e-6
    assert training.mass.min() >= low and training.mass.max() <= high


@pytest.mark.parametrize("name", study.OF_RIVALS)
def test_signal_at_the_masses_of_background_has_their_spectrum(name):
    usual, other = problems.events_of(name, 1)[0], problems.spectrum_of(name, 1)
    signal, background = (other.mass[other.label == label] for label in (1, 0))
    assert ks_2samp(signal, background).pvalue > 0.01 > ks_2samp(usual.mass[usual.label == 1], background).pvalue
    mean = [one.features[one.label == 0].mean(axis=0, dtype=float) for one in (usual, other)]
    assert np.allclose(*mean, atol=0.02)  # scaled alike


def test_a_window_hides_the_labels_outside(monkeypatch):
    usual, seen = problems.events_of("tagger, order 0", 1), []
    for change in (lambda label, inside: label, lambda label, inside: np.where(inside, label, 1 - label)):
        training = usual[0]
        inside = (training.mass > 95) & (training.mass < 155)
        changed = replace(training, label=change(training.label, inside).astype(np.float32))
        monkeypatch.setattr(train, "events_of", lambda *_, changed=changed: (changed, usual[1]))
        settings = {"seed": 1, "batch": 1_024, "epochs": 1 / 16, "rate": 1, "signal": 1, "rival": "window"}
        network, _ = train.trained("tagger, order 0", "none", None, **settings)
        seen.append(train.scores(network, usual[1].features[:1_000]))
    assert np.array_equal(*seen) and np.ptp(seen[0]) > 1


def test_the_weights_of_slices_fall_by_three_decades():
    training, _ = PROBLEMS["slices, order 0"].draw(1)
    plain, _ = PROBLEMS["slices without weights, order 0"].draw(1)
    assert (training.features == plain.features).all() and (plain.weight == 1).all()
    assert not np.array_equal(training.mass, PROBLEMS["slices, order 0"].draw(2)[0].mass)
    background = training[training.label == 0]
    assert len(background) == 30 * (len(training) - len(background))
    mean = [background.weight[abs(background.mass - at) < 0.01].mean(dtype=float) for at in (0.01, 0.99)]
    assert mean[0] / mean[1] == pytest.approx(10**2.94, rel=0.2)
    assert (background.weight < 0).mean() == pytest.approx(1 / 12, rel=0.1)


def drawn(rng, background, signal=2_000, weighted=False):
    """Events and a score that knows nothing of the mass."""
    label = np.repeat([0, 1], [background, signal])
    weight = rng.choice([-0.5, 1, 2], background + signal, p=[0.1, 0.6, 0.3]) if weighted else np.ones(len(label))
    mass, score = rng.random(len(label)), rng.normal(2.0 * label)
    return Events(np.zeros((len(label), 1)), mass, label, weight), score


@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_is_the_statistics_of_both_samples(weighted):
    rng, squares = np.random.default_rng(1), []
    training, _ = drawn(rng, 30_000)
    for _ in range(30):
        test, score = drawn(rng, 60_000, weighted=weighted)
        found = judge.judged(LINE, training, test, score)["cuts"]
        assert found["50 %"]["train"] == pytest.approx(2**0.5 * found["50 %"]["test"], rel=1e-3)
        squares.append([found[cut]["residual"] ** 2 / found[cut]["test"] ** 2 for cut in ("80 %", "50 %", "1e-2")])
    assert np.mean(squares, axis=0) == pytest.approx(np.ones(3), abs=0.25)


def test_a_cut_needs_events():
    """Background efficiencies need 20 events a bin, signal efficiencies one."""
    test, score = drawn(np.random.default_rng(2), 60_000)
    cuts = judge.judged(LINE, test, test, score)["cuts"]
    assert list(cuts) == ["80 %", "50 %", "20 %", "1e-2"]  # 5 % leaves 8 events in all, 5e-3 15 a bin
    assert cuts["1e-2"]["efficiency"] == pytest.approx(0.01, rel=1e-3)
    assert cuts["1e-2"]["events"] == pytest.approx(30, rel=1e-3)
    score[test.label == 1] += 100
    assert "80 %" not in judge.judged(LINE, test, test, score)["cuts"]


def test_a_dependence_at_a_tight_cut_is_seen_there_alone():
    test, score = drawn(np.random.default_rng(3), 60_000)
    bump = (test.label == 0) & (abs(test.mass - 0.5) < 0.05) & (score > np.quantile(score[test.label == 0], 0.99))
    score[bump] += 3
    score[test.label == 1] = np.linspace(0, 6, 2_000)
    cuts = judge.judged(LINE, test, test, score)["cuts"]
    assert cuts["80 %"]["ratio"] < 1.5 and cuts["20 %"]["ratio"] > 3
    # A fit with errors stays with the bins beside the peak.
    assert cuts["20 %"]["fitted"] > 1.05 * cuts["20 %"]["ratio"]
    assert cuts["80 %"]["fitted"] == pytest.approx(cuts["80 %"]["ratio"], rel=0.1)


def test_what_the_layer_says_is_kept(monkeypatch):
    class Says(train.MoDeConstraint):
        def train(self, mode=True):  # eval() of the module around it calls this
            if not mode:
                warnings.warn("not flat at 20 %", TrainingWarning, stacklevel=2)
            return super().train(mode)

    monkeypatch.setattr(train, "MoDeConstraint", Says)
    monkeypatch.setitem(train.PROBLEMS, "scan, order 1", replace(PROBLEMS["scan, order 1"], epochs=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert measured(TRAININGS[0])["says"] == ["not flat at 20 %"]


def test_an_interrupted_study_goes_on(monkeypatch, tmp_path):
    path, done = tmp_path / "results.jsonl", []

    def compute(pieces, work, store, processes):
        for piece in pieces[:2]:  # then it is interrupted
            done.append(piece.key)
            store(piece, {"auc": len(done)})

    monkeypatch.setattr(study, "RESULTS", path)
    monkeypatch.setattr(study, "compute", compute)
    for _ in range(3):
        study.main(["--only", "^tagger.*; default; [123]$", "--processes", "1"])
    assert len(done) == 6 == len(set(done)) and list(study.stored(path)) == done
    path.write_text("\n".join(line for line in path.read_text().splitlines() if done[3] not in line) + "\n")
    study.main(["--only", "^tagger.*; default; [123]$"])
    assert study.stored(path)[done[3]] == {"auc": 7}


@pytest.mark.parametrize(("only", "said"), [("(", "is no regular expression"), ("nobody", "matches no training")])
def test_a_bad_choice_of_trainings(only, said, capsys):
    with pytest.raises(SystemExit):
        study.main(["--only", only])
    assert f"--only '{only}' {said}" in capsys.readouterr().err


def test_tables_of_a_study_that_is_not_complete():
    cuts = {
        "80 %": {"ratio": 1.0, "fitted": 1.2, "residual": 3.0, "test": 1.0},
        "5 %": {"ratio": 2.0, "fitted": 2.1, "residual": 3.0, "test": 1.0},
    }
    results = {
        "tagger, order 0; default; 1": {"auc": 0.9, "r50": 512.3, "cuts": cuts, "says": ["not flat"]},
        "tagger, order 0; default; 2": {"auc": 0.8, "r50": 512.3, "cuts": {"80 %": cuts["80 %"] | {"ratio": 2.0}}},
    }
    found = report.tables(results)
    assert "| tagger, order 0 | - | 0.850 (512) 1.5 | - | - | - |" in found["zoo"]
    assert "| tagger, order 0 | - | 0.850 (512) 1.5 - - | - | - | - | - |" in found["zoo in full"]
    assert "| all events, and the layer | 512; - - - | - |" in found["rivals of the zoo"]
    assert "| near the peak | - | - |" in found["rivals of the zoo"]
    assert "| tagger, order 0 | - - - | - | 1/1 |" in found["tight cuts of the zoo"]
    assert "| tagger, order 0 | test events alone | 3.0 | - | - | 3.0 | - | - | - |" in found["other scales of the zoo"]
