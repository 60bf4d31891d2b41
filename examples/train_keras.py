"""A network in Keras whose selection does not carve a bump out of the background: python train_keras.py

The signal is a peak in mass, the background falls. One of the two features tells how far an event is from the
peak: cross entropy alone makes use of that, and what it selects of the background has a peak as well.
KERAS_BACKEND chooses TensorFlow, JAX or PyTorch.
"""

import keras
import numpy as np
from libmode import metrics
from libmode.keras import MoDeConstraint, pack

EVENTS, BATCH, EPOCHS, ORDER = 10_000, 2_000, 40, 0  # order 0: the score of background shall not depend on mass

rng = np.random.default_rng(1)
label = rng.integers(0, 2, EVENTS)  # 1 is signal
mass = np.where(label == 1, rng.normal(120, 10, EVENTS), 50 + rng.exponential(60, EVENTS))
distance = np.abs(mass - 120) / 60 + rng.normal(0, 0.2, EVENTS)
features = np.column_stack([rng.normal(label), distance])


def train(loss):
    """The scores of a network that was trained on cross entropy, or with MoDe's push in its gradient."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(32, "silu"), keras.layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.Adam(0.02), loss)
    target = label if loss == "binary_crossentropy" else pack(label, mass)
    model.fit(features, target, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    return model.predict(features, batch_size=EVENTS, verbose=0)[:, 0]


for name, loss in (("without MoDe", "binary_crossentropy"), ("with MoDe", MoDeConstraint(order=ORDER))):
    score = train(loss)
    cut = metrics.check(score, label, mass, signal_efficiency=0.5, order=ORDER).cuts[0]
    print(f"{name}: AUC {metrics.auc(score, label):.3f}, background efficiency against mass:", end=" ")
    print(f"residual {cut.residual:.2f} (number of events alone: {cut.expected:.2f})")
print(metrics.check(score, label, mass, order=ORDER))
