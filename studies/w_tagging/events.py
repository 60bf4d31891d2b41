"""Proton collisions at 13 TeV from Pythia 8 (arXiv:2203.11601)."""

from __future__ import annotations

from dataclasses import dataclass

import awkward as ak
import numpy as np
import pythia8mc

# Monash 2013 tune (arXiv:1404.5630) and multiparton interactions are Pythia's defaults.
COMMON = (
    "Print:quiet = on",
    "Beams:eCM = 13000.",
    # Jets of 300 GeV come from harder radiation too: of QCD's within the cuts, 14 % from 190 to 240 GeV. Of the events
    # that pass the preselection from 150 GeV on, 7 % lie below 200 GeV; they would double the time.
    "PhaseSpace:pTHatMin = 200.",
)
PROCESSES = {
    "W": (
        "WeakBosonAndParton:qqbar2Wg = on",
        "WeakBosonAndParton:qg2Wq = on",
        "24:onMode = off",
        "24:onIfAny = 1 2 3 4 5",  # to quarks
    ),
    "QCD": ("HardQCD:all = on",),
}
# Of a parton jet, in GeV, without which an event is given up. Those near 212 of 214 QCD jets within the cuts had pT of
# 298 to 498 GeV, masses from 37 GeV and abs(y) up to 2.02; the other 2 had none.
PARTON_SCALE, PARTON_PT, PARTON_MASS, PARTON_RAPIDITY = 5.0, (285.0, 500.0), 36.0, 2.2
OUTGOING = 23  # Pythia's |status| of the products of the hard process, and of the decay of a W


@dataclass(frozen=True)
class Events:
    """Some collisions; momenta in GeV.

    particles : (events, any number), records of px, py, pz, E and id (PDG): stable and no neutrinos
    quarks : (events, 2, 4), px, py, pz and E of both quarks of each event's W; None without a W
    """

    particles: ak.Array
    quarks: np.ndarray | None

    def __len__(self) -> int:
        return len(self.particles)


class Preselection(pythia8mc.UserHooks):
    """Stops events without a jet inside the cuts as soon as the showers reach PARTON_SCALE.

    Most of Pythia's time goes into the soft multiparton interactions after that. An event passes if it has
    an anti-kt jet of radius 1, of partons or the W, inside PARTON_PT, PARTON_MASS and PARTON_RAPIDITY.
    """

    def __init__(self) -> None:
        super().__init__()
        every_final = 1  # in SlowJet's numbers; and -1 is anti-kt
        self._jets = pythia8mc.SlowJet(-1, 1.0, PARTON_PT[0], 25.0, every_final)

    def canVetoPT(self) -> bool:
        return True

    def scaleVetoPT(self) -> float:
        return PARTON_SCALE

    def doVetoPT(self, position: int, event: pythia8mc.Event) -> bool:
        if position == 5:  # once more, after the W's decay
            return False
        jets = self._jets
        jets.analyze(event)
        return not any(
            jets.pT(k) < PARTON_PT[1] and jets.m(k) > PARTON_MASS and abs(jets.y(k)) < PARTON_RAPIDITY
            for k in range(jets.sizeJet())
        )


class Generator:
    """One process, a name of PROCESSES. The same seed, 1 to 900,000,000, gives the same events."""

    def __init__(self, process: str, seed: int) -> None:
        self.process = process
        self._pythia = pythia8mc.Pythia("", False)
        for setting in (*COMMON, *PROCESSES[process], "Random:setSeed = on", f"Random:seed = {seed}"):
            if not self._pythia.readString(setting):
                raise ValueError(f"Pythia does not know the setting {setting!r}")
        self._preselection = Preselection()
        self._pythia.setUserHooksPtr(self._preselection)
        if not self._pythia.init():
            raise RuntimeError(f"Pythia does not start with process {process!r} and seed {seed}")

    def batch(self, events: int) -> Events:
        """The next ``events`` collisions that pass the preselection, without the few in which Pythia fails."""
        particles = self._pythia.nextBatch(events).prt
        if len(particles) == 0:
            raise RuntimeError(f"Pythia made none of {events} events of process {self.process!r}")
        quarks = _quarks_of_w(particles) if self.process == "W" else None
        kind = abs(particles.id)
        visible = (particles.status > 0) & (kind != 12) & (kind != 14) & (kind != 16)  # neutrinos
        return Events(_records(particles[visible]), quarks)


def _quarks_of_w(particles: ak.Array) -> np.ndarray:
    mother = abs(particles.id[particles.mother1])
    quarks = _records(particles[(abs(particles.status) == OUTGOING) & (mother == 24)])
    found = ak.num(quarks)
    if ak.any(found != 2):
        raise RuntimeError(f"an event has {found[found != 2][0]} quarks from a W, not 2")
    return np.stack([ak.to_numpy(quarks[name]) for name in ("px", "py", "pz", "E")], axis=-1)


def _records(particles: ak.Array) -> ak.Array:
    p = particles.p
    return ak.zip({"px": p.px, "py": p.py, "pz": p.pz, "E": p.e, "id": particles.id})
