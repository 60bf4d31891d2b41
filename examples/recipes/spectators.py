"""Spectators: columns next to the features that are no inputs, as in basf2 and TMVA. python spectators.py

For analyses whose training gets one array: the columns at the end of it are spectators, here the mass. The network
slices the features off, MoDe takes the spectator, so that whatever shuffles, splits or batches the rows keeps both
together. (No basf2 is needed: this is the convention of the array alone.)
"""

import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint
from toys import events, reached

VARIABLES, SPECTATORS = ["x0", "x1"], ["mass"]


class Network(torch.nn.Module):
    """Maps rows of variables and spectators to logits; it uses the variables alone."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(len(VARIABLES), 32), torch.nn.SiLU(), torch.nn.Linear(32, 1))

    def forward(self, rows):
        return self.layers(rows[:, : len(VARIABLES)])[:, 0]


def table(count, seed):
    """Rows of variables and spectators (count, 3), float32, and labels."""
    features, label, mass = events(count, seed)
    return torch.tensor(np.column_stack([features, mass]), dtype=torch.float32), torch.tensor(label)


def train(constraint):
    torch.manual_seed(1)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters())
    all_rows, labels = table(20_000, 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, epochs=30, steps_per_epoch=len(labels) // 500)
    for _ in range(30):
        for batch in torch.randperm(len(all_rows)).split(500):
            rows, label = all_rows[batch], labels[batch]
            optimizer.zero_grad()
            logit = network(rows)
            if constraint is not None:
                logit = constraint(logit, label, rows[:, len(VARIABLES) + SPECTATORS.index("mass")])
            torch.nn.functional.binary_cross_entropy_with_logits(logit, label.float()).backward()
            optimizer.step()
            schedule.step()
    return network


if __name__ == "__main__":
    rows, label = table(20_000, 2)
    other = rows.clone()
    other[:, len(VARIABLES) :] = 0
    for name, constraint in {"without": None, "with": MoDeConstraint(order=0, from_logits=True)}.items():
        network = train(constraint).eval()
        with torch.no_grad():
            score, blind = network(rows).sigmoid().numpy(), network(other).sigmoid().numpy()
        print(f"{name} MoDe: {reached(score, label.numpy(), rows[:, -1].double().numpy())},", end=" ")
        print(f"scores without spectators the same: {np.array_equal(score, blind)}")
    print(metrics.check(score, label.numpy(), rows[:, -1].double().numpy(), order=0))
