"""What a gradient is after a constraint that remembers nothing: by libmode.mode_loss_and_grad and a few lines in float64."""

import libmode
import numpy as np


def ranks(values, weight):
    """The part of the weights that lies below each value, with half of its own."""
    order = np.argsort(values)
    result = np.empty(len(values))
    result[order] = (np.cumsum(weight[order]) - weight[order] / 2) / weight.sum()
    return result


def cosines(rank, count, cells):
    """The functions at the middles of the cells in which the ranks lie, (n, count)."""
    k = np.arange(count)
    middle = (np.floor(rank * cells) + 0.5) / cells
    return np.where(k == 0, 1, np.sqrt(2)) * np.cos(np.pi * np.outer(middle, k))


def smooth(direction, score, mass, weight):
    """The direction after the mean in each range of scores is taken out, and a function that makes a smooth one of it."""
    rank = ranks(score, weight)
    scaled = direction / np.sqrt(rank * (1 - rank))
    parts = min(16, int(weight.sum() ** 2 / (weight**2).sum()) // 20)
    for k in range(parts):
        part = (rank * parts).astype(int) == k
        scaled[part] -= weight[part] * scaled[part].sum() / weight[part].sum()
    count, cells = {1: (12, 32), 2: (5, 8), 3: (3, 4)}[mass.shape[1]]
    functions = cosines(rank, 12, 32)
    for column in mass.T:
        of_mass = cosines(ranks(column, weight), count, cells)
        functions = (functions[:, :, None] * of_mass[:, None, :]).reshape(len(score), -1)
    return scaled, lambda unit: weight * (functions @ (functions.T @ scaled)) * unit / weight.sum()


def pushed(
    incoming, score, label, mass, weight=None, *, relative_strength=10, reference=None, category=None, **options
):
    """The gradient by scores inside (0, 1) whose logits are not near each other, of shape (n,).

    incoming : (n,), that of the classifier's loss
    reference : score, mass and weight of further background events, or None

    All weights are positive, and the scores of background are all different, as its masses are.
    """
    incoming, score, mass = (np.asarray(array, float) for array in (incoming, score, mass))
    count, label = len(score), np.asarray(label)
    if reference is not None:
        score, mass = np.append(score, reference[0]), np.append(mass, reference[1])
        weight = None if weight is None else np.append(weight, reference[2])
        label = np.append(label, np.zeros(len(reference[0])))
    usual = {"order": 1} | ({"bins": 16} if np.sum(label == 0) >= 128 else {})
    arguments = usual | options | {"weight": weight, "label": label, "category": category}
    _, grad = libmode.mode_loss_and_grad(score, mass, **arguments)

    background = np.flatnonzero(label == 0)
    weight = np.ones(len(score)) if weight is None else np.asarray(weight, float)
    weight = weight / weight[background].mean()
    kind = np.zeros(len(score)) if category is None else np.asarray(category)
    groups = [background[kind[background] == k] for k in np.unique(kind[background])]
    mass = mass.reshape(len(mass), -1)
    made = [smooth(grad[group], score[group], mass[group], weight[group]) for group in groups]
    norm = np.linalg.norm(np.concatenate([scaled for scaled, _ in made]))
    push = np.zeros(len(score))
    for group, (_, of_unit) in zip(groups, made, strict=True):
        push[group] = of_unit(relative_strength * np.sqrt(len(background)) / norm)

    slope, moved = score[:count] * (1 - score[:count]), label[:count] == 0
    size = np.linalg.norm((incoming * slope)[moved]) / np.sqrt(moved.sum())
    return incoming + size * push[:count] / slope
