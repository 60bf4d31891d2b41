"""W tagging's sample: features of jets whose values are known, the detector, jets, generation and files."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

from studies.w_tagging import detector, events, features, figures, generate, jets, sample

ROOT = Path(__file__).resolve().parents[2]
FEATURES = features.FEATURES


def particles(pt, y, phi):
    """Massless, (n, 4)."""
    pt, y, phi = np.broadcast_arrays(np.asarray(pt, float), np.asarray(y, float), np.asarray(phi, float))
    return np.stack([pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(y), pt * np.cosh(y)], axis=-1)


def value(name, p):
    return FEATURES[name](p[None])[0]


def values(p):
    return {name: value(name, p) for name in FEATURES}


def boosted(q, velocity=0.9):
    """Massless particles of these momenta where the jet is at rest, boosted along x."""
    energy = np.linalg.norm(q, axis=1)
    gamma = 1 / np.sqrt(1 - velocity**2)
    px, e = gamma * (q[:, 0] + velocity * energy), gamma * (energy + velocity * q[:, 0])
    return np.column_stack([px, q[:, 1], q[:, 2], e])


def random_jet(rng, n=12):
    """Two prongs, blurred, anywhere in phi."""
    center = rng.uniform(-np.pi, np.pi)
    prong = rng.integers(0, 2, n)
    y, phi = 0.7 + 0.2 * prong + rng.normal(0, 0.15, n), center + 0.3 * prong + rng.normal(0, 0.15, n)
    return particles(rng.exponential(30, n) + 1, y, phi)


JETS = [random_jet(np.random.default_rng(seed)) for seed in range(5)]

# ------------------------------------------------------------- closed forms


def two_prongs(r, share=0.5):
    return particles([350 * share, 350 * (1 - share)], 0, [-r / 2, r / 2])


def test_names_are_those_of_the_sample():
    assert tuple(FEATURES) == sample.FEATURES


def test_energy_correlations_of_an_equilateral_triangle():
    angle = np.array([0, 2, 4]) * np.pi / 3
    side = 0.3
    triangle = particles(100, side / np.sqrt(3) * np.sin(angle), side / np.sqrt(3) * np.cos(angle))
    # e2 = 3 side / 9 and e3 = side**3 / 27
    assert value("c2", triangle) == pytest.approx(side / 3, rel=1e-12)
    assert value("d2", triangle) == pytest.approx(1, rel=1e-12)


def test_two_prongs_have_no_three_point_correlation():
    assert value("c2", two_prongs(0.5)) == value("d2", two_prongs(0.5)) == 0


def test_tau21_of_two_prongs_of_two_particles():
    r, split = 0.6, 0.02
    prongs = particles(80, 0, [-r / 2 - split, -r / 2 + split, r / 2 - split, r / 2 + split])
    assert value("tau21", prongs) == pytest.approx(2 * split / r, rel=1e-12)
    assert value("tau21", two_prongs(r)) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize(
    "momenta, r2, aplanarity",
    [
        ([[0, 40, 0], [0, -40, 0]], 1, 0),
        ([[0, 40, 0], [0, -20, 20 * 3**0.5], [0, -20, -20 * 3**0.5]], 0.25, 0),
        (np.vstack([40 * np.eye(3), -40 * np.eye(3)]), 0, 0.5),
    ],
    ids=["line", "three in a plane", "six on the axes"],
)
def test_shapes_in_the_rest_frame(momenta, r2, aplanarity):
    jet = boosted(np.array(momenta, float))
    assert value("r2", jet) == pytest.approx(r2, abs=1e-9)
    assert value("aplanarity", jet) == pytest.approx(aplanarity, abs=1e-9)


@pytest.mark.parametrize("n", [3, 4, 7])
def test_planar_flow_of_a_ring(n):
    angle, opening = 2 * np.pi * np.arange(n) / n, 0.3
    ring = 50 * np.column_stack(
        [np.full(n, np.cos(opening)), np.sin(opening) * np.cos(angle), np.sin(opening) * np.sin(angle), np.ones(n)]
    )
    assert value("planar_flow", ring) == pytest.approx(1, rel=1e-9)


def test_planar_flow_of_a_line():
    assert value("planar_flow", particles([30, 50, 20, 90], 0, [-0.3, 0.1, 0.2, 0.4])) == pytest.approx(0, abs=1e-12)


def test_angularity_of_two_prongs():
    half = 0.25
    expected = (1 - np.cos(half)) ** 2 / (1 + np.cos(half)) / np.sin(half)
    assert value("a3", two_prongs(2 * half)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_kt_splitting_of_two_prongs(share):
    r = 0.5
    d12 = (share * 350 * r) ** 2
    mass_squared = 2 * share * (1 - share) * 350**2 * (1 - np.cos(r))
    jet = two_prongs(r, share)
    assert value("kt_dr", jet) == pytest.approx(r, rel=1e-9)
    assert value("sqrt_d12", jet) == pytest.approx(share * 350 * r, rel=1e-9)
    assert value("zcut", jet) == pytest.approx(d12 / (d12 + mass_squared), rel=1e-9)


# ----------------------------------------- the definitions, in loops


def y_phi(p):
    return np.arctanh(p[2] / p[3]), np.arctan2(p[1], p[0])


def delta_r(p, q):
    (y1, phi1), (y2, phi2) = y_phi(p), y_phi(q)
    return np.hypot(y1 - y2, (phi1 - phi2 + np.pi) % (2 * np.pi) - np.pi)


def pt(p):
    return np.hypot(p[0], p[1])


def subjets_by_hand(p):
    """kt clustering down to two, and the scale at which these merge."""
    found = list(p)

    def scale(pair):
        a, b = found[pair[0]], found[pair[1]]
        return min(pt(a), pt(b)) * delta_r(a, b)

    while len(found) > 2:
        i, j = min(itertools.combinations(range(len(found)), 2), key=scale)
        found.append(found[i] + found[j])
        del found[j], found[i]
    return found, scale((0, 1))


def energy_correlations_by_hand(p):
    z = [pt(a) / sum(map(pt, p)) for a in p]
    e2 = sum(z[i] * z[j] * delta_r(p[i], p[j]) for i, j in itertools.combinations(range(len(p)), 2))
    e3 = sum(
        z[i] * z[j] * z[k] * delta_r(p[i], p[j]) * delta_r(p[i], p[k]) * delta_r(p[j], p[k])
        for i, j, k in itertools.combinations(range(len(p)), 3)
    )
    return e2, e3


def at_rest(p):
    """By rotating the jet onto x, and a boost along it."""
    jet = p.sum(axis=0)
    x = jet[:3] / np.linalg.norm(jet[:3])
    other = np.cross(x, [0, 0, 1])
    other /= np.linalg.norm(other)
    axes = np.stack([x, other, np.cross(x, other)])
    q = p[:, :3] @ axes.T
    beta = np.linalg.norm(jet[:3]) / jet[3]
    q[:, 0] = (q[:, 0] - beta * p[:, 3]) / np.sqrt(1 - beta**2)
    return q


def by_hand(p):
    e2, e3 = energy_correlations_by_hand(p)
    jet = p.sum(axis=0)
    mass = np.sqrt(jet[3] ** 2 - jet[:3] @ jet[:3])
    (a, b), sqrt_d12 = subjets_by_hand(p)
    tau1 = sum(pt(c) * delta_r(c, jet) for c in p)
    tau2 = sum(pt(c) * min(delta_r(c, a), delta_r(c, b)) for c in p)
    q = at_rest(p)
    size = np.linalg.norm(q, axis=1)
    pairs = list(itertools.product(range(len(p)), repeat=2))
    h0 = sum(size[i] * size[j] for i, j in pairs)
    h2 = sum(size[i] * size[j] * (3 * (q[i] @ q[j] / size[i] / size[j]) ** 2 - 1) / 2 for i, j in pairs)
    eigenvalues = np.linalg.eigvalsh(sum(np.outer(v, v) for v in q) / sum(size**2))

    axis = jet[:3] / np.linalg.norm(jet[:3])
    first = np.cross(axis, [0, 0, 1])
    first /= np.linalg.norm(first)
    across = np.stack([first, np.cross(axis, first)])
    tensor = sum(np.outer(across @ c[:3], across @ c[:3]) / c[3] for c in p)
    angles = [np.arccos(c[:3] @ axis / np.linalg.norm(c[:3])) for c in p]
    return {
        "c2": e3 / e2**2,
        "d2": e3 / e2**3,
        "tau21": tau2 / tau1,
        "r2": h2 / h0,
        "planar_flow": 4 * np.linalg.det(tensor) / np.trace(tensor) ** 2,
        "a3": sum(c[3] * np.sin(t) ** -2 * (1 - np.cos(t)) ** 3 for c, t in zip(p, angles, strict=True)) / mass,
        "aplanarity": 1.5 * eigenvalues[0],
        "zcut": sqrt_d12**2 / (sqrt_d12**2 + mass**2),
        "sqrt_d12": sqrt_d12,
        "kt_dr": delta_r(a, b),
    }


@pytest.mark.parametrize("p", JETS)
def test_all_are_as_defined(p):
    assert values(p) == pytest.approx(by_hand(p), rel=1e-6)


def test_many_jets_at_once_are_as_one_by_one():
    few = JETS[0][:5]
    padded = np.stack([np.concatenate([few, np.zeros((7, 4))]), *JETS])
    together = features.features(padded)
    alone = [list(values(p).values()) for p in (few, *JETS)]
    np.testing.assert_allclose(together, alone, rtol=1e-9)
    assert features.features(padded[:0]).shape == (0, 10)


# ------------------------------------------------------------ symmetries


@pytest.mark.parametrize("p", JETS)
def test_a_turn_around_the_beam_changes_nothing(p):
    c, s = np.cos(2.0), np.sin(2.0)
    turned = p @ np.array([[c, s, 0, 0], [-s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert values(turned) == pytest.approx(values(p), rel=1e-7)


@pytest.mark.parametrize("p", JETS)
def test_only_sqrt_d12_has_a_scale(p):
    expected = values(p)
    expected["sqrt_d12"] *= 3
    assert values(3 * p) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("p", JETS)
def test_a_boost_along_the_beam_changes_only_what_uses_angles_in_the_laboratory(p):
    ch, sh = np.cosh(0.8), np.sinh(0.8)
    moved = p @ np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, ch, sh], [0, 0, sh, ch]])
    same = [name for name in FEATURES if name not in ("a3", "planar_flow", "r2", "aplanarity")]
    before, after = values(p), values(moved)
    assert [after[name] for name in same] == pytest.approx([before[name] for name in same], rel=1e-7)


@pytest.mark.parametrize("p", JETS)
def test_splitting_a_particle_into_parallel_ones_changes_nothing(p):
    split = np.concatenate([0.3 * p[:1], 0.7 * p[:1], p[1:]])
    expected = values(p)
    found = values(split)
    # The only one of the ten that is not collinear safe: it weighs momenta by their squares.
    del expected["aplanarity"], found["aplanarity"]
    assert found == pytest.approx(expected, rel=1e-6)


# -------------------------------------------------------------- detector


def as_event(p, pdg):
    return ak.Array([{name: x for name, x in zip(("px", "py", "pz", "E"), row, strict=True)} | {"id": i}
                     for row, i in zip(p.tolist(), pdg, strict=True)])  # fmt: skip


def test_the_detector_keeps_all_energy_inside():
    rng = np.random.default_rng(3)
    p = particles(rng.exponential(5, 200), rng.uniform(-3.9, 3.9, 200), rng.uniform(-np.pi, np.pi, 200))
    outside = particles(10, [4.1, -5, 9], 1)
    event = as_event(np.concatenate([p, outside]), [22, 211, -11, 130] * 50 + [211] * 3)
    energy = detector.deposit(ak.Array([event, event[:0], event[:2]]))
    np.testing.assert_allclose(energy.sum(axis=(1, 2, 3)), [p[:, 3].sum(), 0, p[:2, 3].sum()])
    np.testing.assert_allclose(energy[0, ..., 0].sum(), p[0::4, 3].sum() + p[2::4, 3].sum())


def test_a_tower_lies_where_its_particles_are():
    y, phi = 1.234, -2.1
    event = as_event(particles([20, 10], y, phi), [211, 22])
    towers = detector.towers(detector.deposit(ak.Array([event])))[0]
    assert len(towers) == 1
    tower = np.array([towers[name][0] for name in ("px", "py", "pz", "E")])
    assert tower[3] == pytest.approx(30 * np.cosh(y))
    assert np.linalg.norm(tower[:3]) == pytest.approx(tower[3])
    found_y, found_phi = y_phi(tower)
    assert abs(found_y - y) <= 0.05 and abs(found_phi - phi) <= np.pi / 64


def test_smearing_is_as_wide_as_it_says():
    energy = np.zeros((20_000, 1, 1, 2))
    energy[..., 0], energy[..., 1] = 40, 90
    measured = detector.smear(energy, np.random.default_rng(5))
    np.testing.assert_allclose(measured.mean(axis=(0, 1, 2)), [40, 90], rtol=2e-3)
    widths = [40 * np.hypot(0.1 / np.sqrt(40), 0.01), 90 * np.hypot(0.5 / np.sqrt(90), 0.03)]
    np.testing.assert_allclose(measured.std(axis=(0, 1, 2)), widths, rtol=0.02)


def test_towers_below_the_noise_are_dropped():
    energy = np.zeros((1, detector.ETA_BINS, detector.PHI_BINS, 2))
    energy[0, 3, 4], energy[0, 5, 6] = (0.2, 0.2), (0.3, 0.3)
    assert detector.towers(energy)[0].E.tolist() == pytest.approx([0.6])


# ------------------------------------------------------------------ jets


def as_towers(*sets):
    return ak.Array([[dict(zip(("px", "py", "pz", "E"), row, strict=True)) for row in p.tolist()] for p in sets])


def test_jets_are_trimmed():
    core, soft, hard = particles([150, 200], 0, [0.0, 0.5]), particles([12], 0.6, 0.2), particles([25], -0.6, 0.2)
    found = jets.cluster(as_towers(np.concatenate([core, soft, hard])))
    assert len(found) == 1
    total = found.constituents[0].sum(axis=0)
    np.testing.assert_allclose(total, np.concatenate([core, hard]).sum(axis=0))


def test_cuts():
    def jet(pt, r, y=0.0):
        return particles([pt / 2, pt / 2], y, [-r / 2, r / 2])

    kept, light, soft, hard, forward = jet(350, 0.5), jet(350, 0.1), jet(290, 0.5), jet(430, 0.5), jet(350, 0.5, 2.2)
    found = jets.cluster(as_towers(light, kept, soft, hard, forward, kept))
    assert found.event.tolist() == [0, 1, 3, 4, 5]
    selected = jets.select(found)
    assert selected.event.tolist() == [1, 5]
    np.testing.assert_allclose(selected.constituents.sum(axis=1), [kept.sum(axis=0)] * 2)


def test_no_jets_at_all():
    found = jets.select(jets.cluster(as_towers(particles([20, 30], 0, [0, 1]))))
    assert len(found) == 0 and features.features(found.constituents).shape == (0, 10)


def test_a_jet_of_a_w_holds_both_quarks():
    inside, outside = particles([150, 200], 0, [0.0, 0.5]), particles([300, 50], 0, [0.1, 1.4])
    found = jets.cluster(as_towers(inside, inside))
    assert jets.match(found, np.stack([inside, outside])).event.tolist() == [0]


# ------------------------------------------------------------- generation


@pytest.fixture(scope="module", params=generate.PROCESSES)
def made(request):
    part = generate.Part(request.param, seed=3, number=0, jets=25)
    return part, generate.generate(part)


def test_generated_jets_are_within_the_cuts(made):
    part, result = made
    table = np.array(result["jets"])
    assert table.shape == (part.jets, 12) and np.isfinite(table).all()
    assert result["events"] >= part.jets / 2
    mass, transverse = table[:, 10], table[:, 11]
    assert (mass > 50).all() and (mass < 300).all() and (transverse > 300).all() and (transverse < 400).all()
    column = {name: table[:, k] for k, name in enumerate(sample.FEATURES)}
    for name in ("c2", "tau21", "r2", "planar_flow", "zcut"):
        assert (column[name] >= 0).all() and (column[name] <= 1).all(), name
    if part.process == "W":
        assert 70 < np.median(mass) < 90


def test_the_seed_decides(made):
    part, result = made
    assert generate.generate(part)["jets"] == result["jets"]
    other = generate.Part(part.process, seed=4, number=0, jets=2)
    assert generate.generate(other)["jets"] != result["jets"][:2]
    following = generate.Part(part.process, seed=3, number=1, jets=2)
    assert generate.generate(following)["jets"] != result["jets"][:2]


def run_command(directory, processes):
    arguments = ["--jets", "3", "--seed", "3", "--processes", str(processes), "--output", "jets.npz"]
    directory.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "studies.w_tagging.generate", *arguments],
        cwd=directory, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"2 of 2 pieces to do, about \d+ minutes", done.stdout)
    assert len(re.findall(r"(W|QCD): 3 jets from [\d,]+ events, [\d.]+ jets/s", done.stdout)) == 2
    return sample.load(directory / "jets.npz")


def test_the_number_of_processes_does_not_matter(tmp_path):
    one, two = (run_command(tmp_path / str(n), n) for n in (1, 2))
    assert len(one) == 6 and one.label.sum() == 3
    for name in sample.ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize(
    "option, value", [("--jets", "0"), ("--test-jets", "-5"), ("--seed", "-1"), ("--output", "jets.txt")]
)
def test_the_command_names_a_bad_option(option, value, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["generate", option, value])
    with pytest.raises(SystemExit):
        generate.main()
    assert f"{option} = {value} " in capsys.readouterr().err


def test_there_are_no_neutrinos_and_both_quarks_make_the_w():
    batch = events.Generator("W", 7).batch(20)
    assert not np.isin(np.abs(ak.to_numpy(ak.flatten(batch.particles.id))), (12, 14, 16)).any()
    mass = jets.mass(batch.quarks.sum(axis=1))
    assert len(mass) == 20 and ((mass > 60) & (mass < 100)).mean() > 0.8


def test_pieces_of_fewer_jets_are_among_those_of_more():
    few, many = generate.pieces(1000, seed=1), generate.pieces(1700, seed=1)
    assert all(piece in many for piece in few)
    assert sum(p.argument.jets for p in many) == 3400


def test_jets_for_testing_come_from_generators_of_their_own(monkeypatch, tmp_path):
    """The seeds of Pythia of 400,000 of them and of 100,000 of each class to train with are all different."""
    monkeypatch.chdir(tmp_path)
    started = []

    class Started(Exception):
        pass

    def generator(process, seed):
        started.append(seed)
        raise Started

    monkeypatch.setattr(events, "Generator", generator)

    def run(wanted, work, *_):
        for piece in wanted:
            with pytest.raises(Started):
                work(piece.argument)
        raise SystemExit

    monkeypatch.setattr(generate, "run", run)
    for options in (["--jets", "100000"], ["--test-jets", "400000"]):
        monkeypatch.setattr(sys, "argv", ["generate", *options])
        with pytest.raises(SystemExit):
            generate.main()
    assert len(started) == 2 * 200 + 800 == len(set(started))


def test_jets_for_testing_are_written_to_a_file_of_their_own(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["generate", "--test-jets", "4", "--processes", "1"])
    generate.main()
    assert re.search(r"QCD: 4 jets from [\d,]+ events", printed := capsys.readouterr().out) and "W:" not in printed
    made = sample.load(sample.testing(1), labels=(0,))
    assert len(made) == 4 and not made.label.any()
    with pytest.raises(ValueError, match="no row has the label of W"):
        sample.load(sample.testing(1))


# ------------------------------------------------------------------ files


def small(n=6):
    rng = np.random.default_rng(2)
    f32 = np.float32
    return sample.Sample(
        sample.FEATURES, rng.uniform(size=(n, 10)).astype(f32), np.linspace(60, 200, n, dtype=f32),
        np.linspace(310, 390, n, dtype=f32), (np.arange(n) % 2).astype(f32),
    )  # fmt: skip


def test_a_sample_is_read_as_written(tmp_path):
    jets_ = small()
    sample.write(jets_, tmp_path / "new" / "a.npz")
    read = sample.load(tmp_path / "new" / "a.npz")
    assert read.names == sample.FEATURES and len(read) == 6
    for name in sample.ARRAYS:
        np.testing.assert_array_equal(getattr(read, name), getattr(jets_, name))


def paper_table(n=6):
    table = np.random.default_rng(4).uniform(0.1, 0.9, (n, 12))
    table[:, -1] = np.arange(n) % 2
    return table


def test_the_papers_file(tmp_path):
    table = paper_table()
    path = tmp_path / "W_high_level.npz"
    np.savez(path, train=table[:3], val=table[3:4], test=table[4:])
    read = sample.load(path)
    assert read.names == ("tau21", "c2", "d2", "r2", "planar_flow", "aplanarity", "zcut", "kt_dr", "sqrt_d12")
    np.testing.assert_allclose(read.mass, 50 + 250 * table[:, 0], rtol=1e-6)
    np.testing.assert_allclose(read.pt, table[:, 1], rtol=1e-6)
    np.testing.assert_allclose(read.features, table[:, 2:11], rtol=1e-6)
    np.testing.assert_array_equal(read.label, 1 - table[:, 11])


def change(table, row, column, to):
    table = table.copy()
    table[row, column] = to
    return table


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"train": paper_table()}, "has the arrays train: expected features, mass, pt, label, or train, val, test"),
        ({"val": paper_table()[:, :11]}, r"val has the shape \(6, 11\) and dtype float64, not \(6, 12\) numbers"),
        ({"val": np.array(7.0)}, r"val has the shape \(\) and dtype float64"),
        ({"test": paper_table().astype(str)}, r"test has the shape \(6, 12\) and dtype <U"),
        ({"val": change(paper_table(), 2, 3, np.nan)}, "val: c2 in row 2 is nan, not a finite number"),
        ({"val": change(paper_table(), 1, 0, 80.4)}, "val: mass in row 1 is 80.4, not from 0 to 1"),
        ({"test": change(paper_table(), 0, 11, 2)}, "test: label in row 0 is 2, not 0 or 1"),
    ],
)
def test_errors_name_what_is_wrong_in_the_papers_file(arrays, message, tmp_path):
    path = tmp_path / "bad.npz"
    full = {} if "train" in arrays else {name: paper_table() for name in sample.PAPER_PARTS}
    np.savez(path, **(full | arrays))
    with pytest.raises(ValueError, match=message) as caught:
        sample.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "name, array, message",
    [
        ("features", np.zeros((6, 9)), r"features has the shape \(6, 9\) and dtype float64, not \(6, 10\)"),
        ("mass", np.full(6, 49.0), "mass in row 0 is 49, not from 50 to 300"),
        ("label", np.zeros(6), "no row has the label of W"),
    ],
)
def test_errors_name_what_is_wrong_in_our_file(name, array, message, tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, **({key: getattr(small(), key) for key in sample.ARRAYS} | {name: array}))
    with pytest.raises(ValueError, match=message):
        sample.load(path)


@pytest.mark.parametrize("content", ["text", "empty", "one array", "objects"])
def test_what_is_no_npz_file(content, tmp_path):
    path = tmp_path / "bad.npz"
    if content == "one array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif content == "objects":
        np.savez(path, features=np.array([None]))
    else:
        path.write_text("not a file of arrays" if content == "text" else "")
    with pytest.raises(ValueError, match="bad.npz is not an npz file of plain arrays"):
        sample.load(path)


def test_the_small_sample():
    jets_ = sample.load()
    assert sample.SMALL.stat().st_size <= 5_000_000
    is_w = jets_.label == 1
    assert min(is_w.sum(), (~is_w).sum()) >= 25_000
    counts, edges = np.histogram(jets_.mass[is_w], np.arange(50, 121, 2))
    assert 74 <= edges[np.argmax(counts)] <= 82
    falling, _ = np.histogram(jets_.mass[~is_w], [60, 80, 100, 120, 150, 200])
    assert (np.diff(falling / [20, 20, 20, 30, 50]) < 0).all()


def test_the_figure(tmp_path):
    path = figures.draw(small(200), tmp_path / "features.png")
    assert path.stat().st_size > 20_000
    assert (ROOT / "docs" / "images" / "w_tagging_features.png").stat().st_size <= 300_000
