"""W tagging's sample: features of jets whose values are known, the detector, jets, generation and files."""

import sys
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
from programs import run

from studies.w_tagging import detector, features, generate, jets, sample

ROOT = Path(__file__).resolve().parents[2]


def particles(pt, y, phi):
    """Massless, (n, 4)."""
    pt, y, phi = np.broadcast_arrays(np.asarray(pt, float), np.asarray(y, float), np.asarray(phi, float))
    return np.stack([pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(y), pt * np.cosh(y)], axis=-1)


def boosted(q, velocity=0.9):
    """Massless particles of these momenta where the jet is at rest, boosted along x."""
    q = np.array(q, float)
    energy = np.linalg.norm(q, axis=1)
    gamma = 1 / np.sqrt(1 - velocity**2)
    px, e = gamma * (q[:, 0] + velocity * energy), gamma * (energy + velocity * q[:, 0])
    return np.column_stack([px, q[:, 1], q[:, 2], e])


def two_prongs(share):
    return particles([350 * share, 350 * (1 - share)], 0, [-R / 2, R / 2])


def of_two_prongs(share):
    """In closed form."""
    d12 = (share * 350 * R) ** 2
    mass_squared = 2 * share * (1 - share) * 350**2 * (1 - np.cos(R))
    return {"kt_dr": R, "sqrt_d12": share * 350 * R, "zcut": d12 / (d12 + mass_squared), "c2": 0, "d2": 0, "tau21": 0}


def ring(n, opening=0.3):
    angle, one = 2 * np.pi * np.arange(n) / n, np.ones(n)
    around = np.sin(opening) * np.array([np.cos(angle), np.sin(angle)])
    return 50 * np.column_stack([np.cos(opening) * one, *around, one])


R, SPLIT, SIDE = 0.5, 0.02, 0.3
TRIANGLE = np.array([0, 2, 4]) * np.pi / 3
CLOSED_FORMS = {
    # e2 = 3 side / 9 and e3 = side**3 / 27
    "triangle": (
        particles(100, SIDE / np.sqrt(3) * np.sin(TRIANGLE), SIDE / np.sqrt(3) * np.cos(TRIANGLE)),
        {"c2": SIDE / 3, "d2": 1},
    ),
    "two prongs": (two_prongs(0.2), of_two_prongs(0.2)),
    "two equal prongs": (
        two_prongs(0.5),
        of_two_prongs(0.5) | {"a3": (1 - np.cos(R / 2)) ** 2 / (1 + np.cos(R / 2)) / np.sin(R / 2)},
    ),
    "two prongs of two": (
        particles(80, 0, [-R / 2 - SPLIT, -R / 2 + SPLIT, R / 2 - SPLIT, R / 2 + SPLIT]),
        {"tau21": 2 * SPLIT / R, "kt_dr": R},
    ),
    "three at rest": (
        boosted([[0, 40, 0], [0, -20, 20 * 3**0.5], [0, -20, -20 * 3**0.5]]),
        {"r2": 0.25, "aplanarity": 0},
    ),
    "six at rest": (boosted([*40 * np.eye(3), *-40 * np.eye(3)]), {"r2": 0, "aplanarity": 0.5}),
    "ring": (ring(7), {"planar_flow": 1}),
    "line": (particles([30, 50, 20, 90], 0, [-0.3, 0.1, 0.2, 0.4]), {"planar_flow": 0}),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_features_are_those_of_closed_forms(name):
    jet, expected = CLOSED_FORMS[name]
    assert set(expected) <= set(features.FEATURES) == set(sample.FEATURES)
    found = {name: features.FEATURES[name](jet[None])[0] for name in expected}
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-7)


# ------------------------------------------------------- the detector and jets


def lists(*sets):
    """Particles or towers of some events."""
    names = ("px", "py", "pz", "E")
    return ak.Array([[dict(zip(names, row, strict=True)) for row in p.tolist()] for p in sets])


def test_the_detector_keeps_all_energy_inside():
    rng = np.random.default_rng(3)
    inside = particles(rng.exponential(5, 200), rng.uniform(-3.9, 3.9, 200), rng.uniform(-np.pi, np.pi, 200))
    event = lists(np.concatenate([inside, particles(10, [4.1, -5, 9], 1)]))
    event["id"] = ak.Array([[22, 211, -11, 130] * 50 + [211] * 3])
    energy = detector.deposit(ak.concatenate([event, event[:, :0], event[:, :2]]))
    np.testing.assert_allclose(energy.sum(axis=(1, 2, 3)), [inside[:, 3].sum(), 0, inside[:2, 3].sum()])
    np.testing.assert_allclose(energy[0, ..., 0].sum(), inside[::2, 3].sum())


def test_a_tower_lies_where_its_particles_are():
    y, phi = 1.234, -2.1
    event = lists(particles([20, 10], y, phi))
    event["id"] = ak.Array([[211, 22]])
    (tower,) = detector.towers(detector.deposit(event))[0]
    tower = np.array([tower[name] for name in ("px", "py", "pz", "E")])
    assert np.linalg.norm(tower[:3]) == pytest.approx(tower[3]) == pytest.approx(30 * np.cosh(y))
    np.testing.assert_allclose(jets.rapidity_phi(tower), (y, phi), rtol=0, atol=np.pi / 64)


def test_smearing_is_as_wide_as_it_says_and_towers_below_the_noise_are_dropped():
    energy = np.zeros((20_000, 1, 1, 2))
    energy[..., 0], energy[..., 1] = 40, 90
    measured = detector.smear(energy, np.random.default_rng(5))
    np.testing.assert_allclose(measured.mean(axis=(0, 1, 2)), [40, 90], rtol=2e-3)
    widths = [40 * np.hypot(0.1 / np.sqrt(40), 0.01), 90 * np.hypot(0.5 / np.sqrt(90), 0.03)]
    np.testing.assert_allclose(measured.std(axis=(0, 1, 2)), widths, rtol=0.02)
    energy = np.zeros((1, detector.ETA_BINS, detector.PHI_BINS, 2))
    energy[0, 3, 4], energy[0, 5, 6] = (0.2, 0.2), (0.3, 0.3)
    assert detector.towers(energy)[0].E.tolist() == pytest.approx([0.6])


def test_jets_are_trimmed():
    core, soft, hard = particles([150, 200], 0, [0.0, 0.5]), particles([12], 0.6, 0.2), particles([25], -0.6, 0.2)
    found = jets.cluster(lists(np.concatenate([core, soft, hard])))
    assert len(found) == 1
    np.testing.assert_allclose(found.constituents[0].sum(axis=0), np.concatenate([core, hard]).sum(axis=0))


def test_jets_are_cut_and_hold_both_quarks_of_a_w():
    def jet(pt, r, y=0.0):
        return particles([pt / 2, pt / 2], y, [-r / 2, r / 2])

    kept, light, soft, hard, forward = jet(350, 0.5), jet(350, 0.1), jet(290, 0.5), jet(430, 0.5), jet(350, 0.5, 2.2)
    found = jets.cluster(lists(light, kept, soft, hard, forward, kept))
    assert found.event.tolist() == [0, 1, 3, 4, 5]
    selected = jets.select(found)
    assert selected.event.tolist() == [1, 5]
    np.testing.assert_allclose(selected.constituents.sum(axis=1), [kept.sum(axis=0)] * 2)
    none = jets.select(jets.cluster(lists(particles([20, 30], 0, [0, 1]))))
    assert features.features(none.constituents).shape == (0, 10)

    inside, outside = particles([150, 200], 0, [0.0, 0.5]), particles([300, 50], 0, [0.1, 1.4])
    found = jets.cluster(lists(inside, inside))
    assert jets.match(found, np.stack([inside, outside])).event.tolist() == [0]


# --------------------------------------------------------- generation and files


@pytest.mark.parametrize("process", generate.PROCESSES)
def test_generated_jets_are_within_the_cuts_and_the_seed_decides(process):
    def made(seed, number):
        return np.array(generate.generate(generate.Part(process, seed=seed, number=number, jets=10))["jets"])

    table = made(3, 0)
    assert table.shape == (10, 12) and np.isfinite(table).all()
    mass, transverse = table[:, 10], table[:, 11]
    assert (mass > 50).all() and (mass < 300).all() and (transverse > 300).all() and (transverse < 400).all()
    assert process != "W" or 70 < np.median(mass) < 90
    assert (made(3, 0) == table).all() and (made(4, 0) != table).any() and (made(3, 1) != table).any()


def test_the_command_writes_these_jets_and_others_for_testing(tmp_path):
    for options in (["--jets", "3"], ["--test-jets", "4"]):
        command = [sys.executable, "-W", "error", "-m", "studies.w_tagging.generate", "--seed", "3", *options]
        run(*command, cwd=tmp_path, PYTHONPATH=str(ROOT))
    found = sample.load(tmp_path / sample.LARGE)
    for process, label in (("W", 1), ("QCD", 0)):
        expected = generate.generate(generate.Part(process, seed=3, number=0, jets=3))["jets"]
        own = np.column_stack([found.features, found.mass, found.pt])[found.label == label]
        np.testing.assert_array_equal(np.sort(own, axis=0), np.sort(np.array(expected, np.float32), axis=0))
    with pytest.raises(ValueError, match="no row has the label of W"):
        sample.load(tmp_path / sample.testing(3))
    for_testing = sample.load(tmp_path / sample.testing(3), labels=(0,))
    assert len(for_testing) == 4 and not np.isin(for_testing.mass, found.mass).any()


def test_the_papers_file(tmp_path):
    """In which label 1 is QCD."""
    table = np.random.default_rng(4).uniform(0.1, 0.9, (6, 12))
    table[:, -1] = np.arange(6) % 2
    path = tmp_path / "W_high_level.npz"
    np.savez(path, train=table[:3], val=table[3:4], test=table[4:])
    read = sample.load(path)
    assert read.names == ("tau21", "c2", "d2", "r2", "planar_flow", "aplanarity", "zcut", "kt_dr", "sqrt_d12")
    np.testing.assert_allclose(read.mass, 50 + 250 * table[:, 0], rtol=1e-6)
    np.testing.assert_allclose(read.pt, table[:, 1], rtol=1e-6)
    np.testing.assert_allclose(read.features, table[:, 2:11], rtol=1e-6)
    np.testing.assert_array_equal(read.label, 1 - table[:, 11])
