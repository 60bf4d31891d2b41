"""A classifier that rises with flight distance whatever the data say, and MoDe in lifetime. python monotonic_network.py

For LHCb's pair: monotonic Lipschitz networks (monotonicnetworks, arXiv:2112.00038), whose response to a displaced
decay never falls, so that nothing longer-lived than the simulation is lost; and MoDe, so that for background the
selection is flat in the decay time, which is measured afterwards. The constraint on the architecture and the one in
the loss do not get in each other's way.
"""

import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint
from monotonicnetworks import GroupSort, LipschitzLinear, MonotonicWrapper


def events(count, seed):
    """Features (count, 3): momentum imbalance, vertex quality, flight distance; label; and decay time in ps."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, count)
    time = rng.exponential(np.where(label == 1, 1.5, 0.7))  # signal lives longer
    flight = np.log(time + 0.05) + rng.normal(0, 0.3, count)
    quality = rng.normal(label) - 0.5 * (1 - label) * np.log(time + 0.05)  # knows the time as well, for background
    return torch.tensor(np.column_stack([rng.normal(label), quality, flight]), dtype=torch.float32), label, time


def network():
    """Monotonic in the third feature: a Lipschitz network and the slope that no derivative of it can undo."""
    layers = [LipschitzLinear(3, 32, kind="one-inf"), GroupSort(16)]
    layers += [LipschitzLinear(32, 32, kind="inf"), GroupSort(16), LipschitzLinear(32, 1, kind="inf")]
    inner = torch.nn.Sequential(*layers)
    return MonotonicWrapper(inner, lipschitz_const=1.0, monotonic_constraints=[0, 0, 1])


def train(constraint):
    torch.manual_seed(1)
    model, scale = network(), torch.nn.Parameter(torch.ones(()))  # a positive factor keeps it monotonic
    optimizer = torch.optim.Adam([*model.parameters(), scale], lr=0.01)
    features, label, time = events(20_000, 1)
    target, time = torch.tensor(label), torch.tensor(time)
    for _ in range(15):
        for batch in torch.randperm(len(label)).split(2000):
            optimizer.zero_grad()
            logit = scale.exp() * model(features[batch])[:, 0]
            if constraint is not None:
                logit = constraint(logit, target[batch], time[batch])
            torch.nn.functional.binary_cross_entropy_with_logits(logit, target[batch].float()).backward()
            optimizer.step()
    return model.eval()


if __name__ == "__main__":
    features, label, time = events(50_000, 2)
    ladder = torch.linspace(-5, 5, 101)
    for name, constraint in {"without": None, "with": MoDeConstraint(order=0, from_logits=True)}.items():
        model = train(constraint)
        with torch.no_grad():
            score = model(features)[:, 0].double().sigmoid().numpy()
            grid = features[:200, None].repeat(1, len(ladder), 1)
            grid[..., 2] = ladder
            least = model(grid.reshape(-1, 3)).reshape(200, -1).diff(dim=1).min().item()
        cut = metrics.check(score, label, time, signal_efficiency=0.5, order=0).cuts[0]
        print(f"{name} MoDe: AUC {metrics.auc(score, label):.3f}, residual {cut.residual:.2f}", end=" ")
        print(f"(by chance {cut.expected:.2f}), least step up the flight distance {least:.5f}")
    print(metrics.check(score, label, time, order=0))
