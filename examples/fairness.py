"""A network whose decisions are alike for all groups and all ages: python fairness.py

The people are made up. The network is told neither group nor age, but three of its four features tell something
of them. What is compared are the fractions of people selected, where 50, 30 or 10 % of all are.
"""

import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeLoss

PEOPLE, STEPS, STRENGTH = 40_000, 200, 100  # half of the people to train with, the others to judge
BETWEEN = [-0.5, 0.5, 1.5, 2.5]  # the groups 0, 1 and 2

rng = np.random.default_rng(1)
group = rng.choice(3, PEOPLE, p=[0.6, 0.3, 0.1])
age = rng.uniform(18, 65, PEOPLE)
education = 12 - group + 2 * rng.normal(size=PEOPLE)  # years: fewer in groups 1 and 2
experience = np.maximum(0, age - 20 - 3 * rng.random(PEOPLE))  # years of work
district, hours = group + 0.7 * rng.normal(size=PEOPLE), 38 + 4 * rng.normal(size=PEOPLE)
logit = -1.5 + 0.5 * (education - 12) + 2 * np.exp(-(((age - 48) / 14) ** 2)) + 0.05 * (hours - 38) - 0.4 * group
income = rng.random(PEOPLE) < 1 / (1 + np.exp(-logit))  # is it high?

columns = np.column_stack([education, experience, district, hours])
features = torch.tensor((columns - columns.mean(0)) / columns.std(0), dtype=torch.float32)
target, groups, ages = (torch.tensor(x, dtype=torch.float32) for x in (income, group, age))
train, test = slice(PEOPLE // 2), slice(PEOPLE // 2, None)


def scores(strength, order):
    """Scores of a network trained on cross entropy + strength * (MoDe[0] of group + MoDe[order] of age)."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1), torch.nn.Sigmoid())
    of_group = MoDeLoss(order=0, edges=BETWEEN, background_only=False)  # of all people, whatever their income
    of_age = MoDeLoss(order=order, background_only=False)
    entropy, optimizer = torch.nn.BCELoss(), torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(STEPS):
        optimizer.zero_grad()
        score, truth = model(features[train])[:, 0], target[train]
        unfair = of_group(score, truth, groups[train]) + of_age(score, truth, ages[train])
        (entropy(score, truth) + strength * unfair).backward()
        optimizer.step()
    return model(features[test])[:, 0].detach().numpy()


def report(name, score):
    """Prints the largest difference of the selected fraction between groups, and between eight ranges of age."""
    bins, figures = np.linspace(18, 65, 9), [metrics.auc(score, income[test])]
    for attribute, edges in ((group, BETWEEN), (age, bins)):
        for share in (0.5, 0.3, 0.1):
            cut = {"threshold": np.quantile(score, 1 - share), "bins": edges}
            fractions = metrics.efficiency(score, None, attribute[test], **cut).value  # of all people: no label
            figures.append(fractions.max() - fractions.min())
    found = metrics.check(score, None, age[test], background_efficiency=0.3, bins=bins, order=1)
    figures.append(found.cuts[0].residual)
    print(f"{name:24}", *(f"{figure:8.3f}" for figure in figures))


print(f"{'':24}      AUC  groups 50 %    30 %     10 %  ages 50 %    30 %     10 %     bend")
report("no constraint", scores(0, order=0))
report("MoDe[0]", scores(STRENGTH, order=0))
report("MoDe[0], MoDe[1] of age", scores(STRENGTH, order=1))
report("decided by lot", rng.random(PEOPLE // 2))
