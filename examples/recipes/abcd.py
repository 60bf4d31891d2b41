"""ABCD with two scores, and DisCo between them: the background's estimate closes. python abcd.py

For searches that cut the plane of two classifiers into four regions and predict background in the signal region A,
where both are high, by N_B N_C / N_D. That holds if the two are independent for background. Double DisCo
(arXiv:2007.14400) adds their distance correlation to the loss. That of the logits sees tight cuts better than that of
the scores. A common mode of the features makes the scores of two plain classifiers depend on each other.

- Each category, as a year, has an ABCD of its own: the loss is the sum over categories, by their shares.
- The unbiased DisCo has mean 0 for independent scores in batches of any size. So the mean over the processes of
  DistributedDataParallel needs no gather. One of the two may be a given variable, as missing energy.
"""

import torch
from libmode import metrics
from libmode.torch import distance_correlation
from torch.nn.functional import binary_cross_entropy_with_logits
from toys import closure, common_mode

STRENGTH = 600.0  # the larger, the better it closes, and the less it separates


def events(count, seed):
    """The toy events as tensors: features, labels and a category."""
    features, label = common_mode(count, seed)
    return torch.tensor(features, dtype=torch.float32), torch.tensor(label), torch.arange(count) % 2


def dependence(first, second, label, category):
    """The distance correlation of the background's logits, in each category."""
    chosen = [(label == 0) & (category == one) for one in category.unique()]
    return sum(one.float().mean() * distance_correlation(first[one], second[one]) for one in chosen)


def train(strength):
    """The logits of fresh events, and their labels, of two networks with half of the features each."""
    torch.manual_seed(1)
    networks = [
        torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1), torch.nn.Flatten(0))
        for _ in range(2)
    ]
    optimizer = torch.optim.Adam([p for network in networks for p in network.parameters()], lr=0.01)
    features, label, category = events(20_000, 1)
    for _ in range(25):
        for batch in torch.randperm(len(label)).split(2000):
            x, y = features[batch], label[batch]
            first, second = networks[0](x[:, :2]), networks[1](x[:, 2:])
            loss = sum(binary_cross_entropy_with_logits(logit, y.float()) for logit in (first, second))
            if strength:
                loss = loss + strength * dependence(first, second, y, category[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        features, label, _ = events(400_000, 2)
        return networks[0](features[:, :2]).numpy(), networks[1](features[:, 2:]).numpy(), label.numpy()


if __name__ == "__main__":
    for name, strength in [("nothing", 0), ("DisCo", STRENGTH)]:
        first, second, label = train(strength)
        ratios = [closure(first, second, label, fraction) for fraction in (0.25, 0.05, 0.01)]  # of the background in A
        aucs = " ".join(f"{metrics.auc(score, label):.3f}" for score in (first, second))
        print(
            f"{name} between them: AUC {aucs}, predicted over true background", *(f"{r:.2f}±{e:.2f}" for r, e in ratios)
        )
