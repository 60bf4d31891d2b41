"""ABCD with two scores, and ABCDLoss between them: the background's estimate closes. python abcd.py

For searches that cut the plane of two classifiers into four regions and predict background in the signal region A,
where both are high, by N_B N_C / N_D. That holds if the two are independent for background. Double DisCo
(arXiv:2007.14400) makes the distance correlation of the scores small, ABCDLoss the significance of the non-closure over
all pairs of cuts, so that tight ones count. A common mode of the features makes the scores of two plain classifiers
depend on each other.
"""

import torch
from libmode import metrics
from libmode.torch import ABCDLoss, distance_correlation
from torch.nn.functional import binary_cross_entropy
from toys import common_mode


def events(count, seed):
    """The toy events as tensors."""
    features, label = common_mode(count, seed)
    return torch.tensor(features, dtype=torch.float32), torch.tensor(label)


# What stands between the scores: a loss to be added.
def nothing(first, second, label):
    return 0


def double_disco(first, second, label):
    background = label == 0
    return 200 * distance_correlation(first[background], second[background], unbiased=False)


abcd_loss = ABCDLoss()


def abcd(first, second, label):
    """ABCDLoss: a larger strength closes better and separates less."""
    return 800 * abcd_loss(first, second, label)


def train(between):
    """The scores of fresh events, and their labels, of two networks with half of the features each."""
    torch.manual_seed(1)
    networks = [
        torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1), torch.nn.Sigmoid())
        for _ in range(2)
    ]
    optimizer = torch.optim.Adam([p for network in networks for p in network.parameters()], lr=0.01)
    features, label = events(20_000, 1)
    for _ in range(25):
        for batch in torch.randperm(len(label)).split(2000):
            x, y = features[batch], label[batch]
            first, second = networks[0](x[:, :2])[:, 0], networks[1](x[:, 2:])[:, 0]
            loss = (
                between(first, second, y)
                + binary_cross_entropy(first, y.float())
                + binary_cross_entropy(second, y.float())
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        features, label = events(400_000, 2)
        return networks[0](features[:, :2])[:, 0].numpy(), networks[1](features[:, 2:])[:, 0].numpy(), label.numpy()


if __name__ == "__main__":
    for name, between in [("nothing", nothing), ("DisCo", double_disco), ("ABCD", abcd)]:
        first, second, label = train(between)
        closure = metrics.closure(first, label, second, fractions=(0.25, 0.05, 0.01))  # of the background in A
        aucs = " ".join(f"{metrics.auc(score, label):.3f}" for score in (first, second))
        ratios = zip(closure.ratio.diagonal(), closure.error.diagonal(), strict=True)
        print(
            f"{name} between them: AUC {aucs}, predicted over true background", *(f"{r:.2f}±{e:.2f}" for r, e in ratios)
        )
