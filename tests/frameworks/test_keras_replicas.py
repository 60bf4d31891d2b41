"""libmode.keras on several devices of tf.distribute."""

import sys
from pathlib import Path

import libmode
from programs import run

ON_TWO_REPLICAS = """
from contextlib import nullcontext
import keras, numpy as np, tensorflow as tf
from libmode.keras import MoDeConstraint, MoDeLoss, pack

devices = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
rng = np.random.default_rng(0)
features, label, mass = rng.normal(size=(800, 2)).astype("float32"), rng.integers(0, 2, 800), rng.random(800)
# Each replica gets one half of a batch, and the halves are equal: so are the loss and the step of all events.
features, label, mass = (np.concatenate([array, array]) for array in (features, label, mass))


def trained(loss, replicas):
    with strategy.scope() if replicas else nullcontext():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, "sigmoid")])
        model.compile(keras.optimizers.SGD(0.5), loss)
    history = model.fit(features, pack(label, mass), batch_size=1600, verbose=0, shuffle=False).history
    return [history["loss"][0], *np.concatenate([np.ravel(weights) for weights in model.get_weights()])]


options = {"order": 1, "bins": 4, "unbiased": False}
for base in (None, "binary_crossentropy", keras.losses.BinaryCrossentropy()):
    one, two = (trained(MoDeLoss(base=base, **options), replicas) for replicas in (False, True))
    np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-6, err_msg=str(base))
try:
    trained(MoDeConstraint(order=1), True)
except ValueError as error:
    print(error)
"""


def test_the_loss_is_the_mean_over_replicas_and_the_constraint_refuses_them():
    settings = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
    settings["PYTHONPATH"] = str(Path(libmode.__file__).parents[1])
    printed = run(sys.executable, "-c", ON_TWO_REPLICAS, **settings)
    assert "MoDeConstraint and 2 devices of a distribution" in printed
    assert "Train on one device, or with MoDeLoss" in printed
