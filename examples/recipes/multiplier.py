"""MoDe below a limit, by a multiplier (MDMM), beside the layer. python multiplier.py

For trainings that already have a multiplier for each constraint, as CMS's ABCD taggers: L <= limit is one more.
The multiplier climbs as long as the loss is above the limit, and damping keeps the two from turning round each other
(J. Platt and A. Barr, NIPS 1987; ``MaxConstraintHard`` of the package mdmm). MoDeConstraint needs no limit.
"""

import torch
from libmode import metrics
from libmode.torch import MoDeConstraint, MoDeLoss
from toys import events, reached

LIMIT, SCALE, DAMPING = 2e-4, 200, 50


class Below(torch.nn.Module):
    """The term to add to the loss of the classifier that keeps ``value`` below the limit."""

    def __init__(self):
        super().__init__()
        self.multiplier = torch.nn.Parameter(torch.zeros(()))
        self.ascent = torch.optim.Adamax([self.multiplier], lr=0.02, maximize=True)

    def forward(self, value):
        excess = SCALE * (value - LIMIT).clamp(min=0)
        self.multiplier.grad = excess.detach()
        self.ascent.step()
        return self.multiplier.detach() * excess + DAMPING * excess**2 / 2


def train(name):
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1), torch.nn.Sigmoid())
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    below, mode, constraint = Below(), MoDeLoss(order=0), MoDeConstraint(order=0, training_events=25_000)
    x, y, m = (torch.tensor(array).float() for array in events(50_000, 1))
    for _ in range(20):
        for batch in torch.randperm(len(y)).split(1_000):
            score, added = network(x[batch])[:, 0], 0
            if name == "layer":
                score = constraint(score, y[batch], m[batch])
            elif name == "multiplier":
                added = below(mode(score, y[batch], m[batch]))
            optimizer.zero_grad()
            (torch.nn.functional.binary_cross_entropy(score, y[batch]) + added).backward()
            optimizer.step()
    return network


if __name__ == "__main__":
    x, label, mass = events(50_000, 2)
    for name in ("nothing", "multiplier", "layer"):
        network = train(name)
        with torch.no_grad():
            score = network(torch.tensor(x))[:, 0].double().numpy()
        print(f"{name}: {reached(score, label, mass)}")
    print(metrics.check(score, label, mass, order=0))
