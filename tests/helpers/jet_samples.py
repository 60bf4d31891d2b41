"""A stand-in for the sample of jets: the mass has the shape of theirs, and features that follow it."""

import numpy as np


def write(path, w, qcd, seed=1):
    """So many jets of each class, in a file that studies.w_tagging.sample.load reads."""
    rng = np.random.default_rng(seed)
    falling = 50 + 150 * (1 - np.sqrt(rng.uniform(size=qcd)))
    mass = np.concatenate([rng.normal(80.4, 7, w).clip(51, 299), falling])
    label = np.repeat([1.0, 0.0], [w, qcd])
    # Two that know the class, one that knows the mass, one that knows both, and noise.
    features = rng.normal(size=(w + qcd, 10))
    features[:, :2] += 0.7 * label[:, None]
    features[:, 2] = 3 * np.log(mass / 80) + 0.5 * features[:, 2]
    features[:, 3] += label - 2 * np.log(mass / 80)
    order = rng.permutation(w + qcd)
    arrays = {"features": features, "mass": mass, "pt": rng.uniform(300, 400, w + qcd), "label": label}
    np.savez(path, **{name: array[order].astype(np.float32) for name, array in arrays.items()})
    return str(path)
