"""The leading candidate of an event: which pair of jets is the resonance? python candidates.py

For events with several candidates, each with a mass and a score, of which the analysis keeps the one with the highest
score. This choice can sculpt the mass too, so MoDe has to see what the analysis sees: the score and the mass of the
leading candidate. All candidates of an event would be another spectrum.
"""

import torch
from libmode import metrics
from libmode.torch import MoDeConstraint
from toys import events, reached

CANDIDATES = 3  # of an event


def sample(count, seed):
    """Features (count, 3, 2), labels (count,), masses (count, 3); a signal event has one true candidate."""
    x, of_candidate, m = (torch.tensor(array) for array in events(3 * CANDIDATES * count, seed))
    wrong = (of_candidate == 0).nonzero()[:, 0]
    chosen = wrong[: CANDIDATES * count].view(count, CANDIDATES)
    label = torch.arange(count) % 2
    chosen[label == 1, 0] = (of_candidate == 1).nonzero()[: count // 2, 0]
    return x[chosen], label, m[chosen].float()


def train(constraint):
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    features, label, mass = sample(60_000, 1)
    for _ in range(20):
        for batch in torch.randperm(len(label)).split(1_000):
            logit, leading = network(features[batch])[..., 0].max(1)
            if constraint is not None:
                logit = constraint(logit, label[batch], mass[batch].gather(1, leading[:, None])[:, 0])
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(logit, label[batch].float()).backward()
            optimizer.step()
    return network


if __name__ == "__main__":
    features, label, mass = sample(60_000, 2)
    for name, constraint in {"without": None, "with": MoDeConstraint(order=0, from_logits=True)}.items():
        network = train(constraint)
        with torch.no_grad():
            logit, leading = network(features)[..., 0].max(1)
        of_leading = mass.gather(1, leading[:, None])[:, 0].double().numpy()
        print(f"{name} MoDe: {reached(logit.numpy(), label.numpy(), of_leading)}")
    print(metrics.check(logit.numpy(), label.numpy(), of_leading, order=0))
