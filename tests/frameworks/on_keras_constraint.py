"""libmode.keras.MoDeConstraint on the backend that KERAS_BACKEND names: test_keras.py runs this file once for each."""

from functools import partial

import keras
import libmode
import numpy as np
import on_keras
import pytest
from core_layer import N, assert_close, by_the_core, entropy_and_gradient, events
from defaults import DEFAULTS, of_signature
from keras import ops
from libmode import metrics
from libmode.keras import MoDeCallback, MoDeConstraint, MoDeLoss, on_label, pack
from on_keras import SPARSE, as_arrays, jit, network, sample, two, value_and_grad, without_label  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")


# ------------------------------------------------------------- the gradient


SCORE, LABEL, MASS, WEIGHT = events()
BOTH, CATEGORY = np.stack([MASS, MASS**2], axis=1), np.arange(N) // 2 % 2
_, INCOMING = entropy_and_gradient(SCORE, LABEL)
ODDS = np.log(SCORE / (1 - SCORE))
LOGITS = keras.losses.BinaryCrossentropy(from_logits=True)


# Of each: arguments, arrays of pack, outputs, the gradient by the score that comes in, and events of the core.
CASES = {
    "defaults": ({}, (LABEL, MASS), SCORE, INCOMING, {}),
    "a column": ({"floor": 0.5, "score": 0}, (LABEL, MASS[:, None]), SCORE[:, None], INCOMING, {}),
    "weights": (
        {"order": 0, "bins": 8, "strength": 3.0}, (LABEL, MASS, WEIGHT), SCORE,
        entropy_and_gradient(SCORE, LABEL, WEIGHT)[1], {"weight": WEIGHT},
    ),
    "variables": (
        {"bins": 4, "categories": 2, "training_events": 1e4}, (LABEL, BOTH, None, CATEGORY), SCORE, INCOMING,
        {"mass": BOTH, "category": CATEGORY},
    ),
    "logits": ({"from_logits": True}, (LABEL, MASS), ODDS, INCOMING * SCORE * (1 - SCORE), {"score": ODDS}),
    "all events": ({"background_only": False}, (LABEL, MASS), SCORE, INCOMING, {"label": 0 * LABEL}),
    "one-hot": (
        {"base": "categorical_crossentropy", "score": 1}, (np.eye(2)[LABEL], MASS), np.stack([1 - SCORE, SCORE], axis=1),
        (1 - LABEL / SCORE) / N, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_and_state_are_those_of_the_core(name):
    arguments, packed, outputs, incoming, other = CASES[name]
    loss = MoDeConstraint(**({"base": LOGITS} if name == "logits" else {}), **({"order": 1} | arguments))
    column = arguments.get("score")
    options = {key: value for key, value in arguments.items() if key not in ("base", "score", "background_only")}
    given = {"score": SCORE, "label": LABEL, "mass": MASS, "weight": np.ones(N, np.float32)} | other
    want, numbers = by_the_core(np.asarray(incoming), **given, **options)
    for theirs in want:
        _, grad = value_and_grad(lambda p: loss(pack(*packed), p), outputs)
        got = grad if column is None else grad[:, column]
        assert_close(got, theirs, rtol=1e-4)
        assert np.abs(got - incoming).max() > 0.02 * np.abs(incoming).max()
    assert_close(loss._layer._memory, numbers, rtol=1e-4)


# ------------------------------------------------------------- bad input

BAD = r"""
of a softmax with a class 2 | MoDeConstraint(base=SPARSE, order=1, signal=2)(t, two(p))
background_label = 1 and signal = -1 | MoDeConstraint(base=SPARSE, order=1, background_label=1)(t, two(p))
score = 2: y_pred of shape \(512, 2\) | MoDeConstraint(base=SPARSE, score=2, order=1)(t, two(p))
score = .*: must be the number of an output | MoDeConstraint(score=ops.sigmoid, order=1)
base = None: MoDeConstraint adds to the gradient | MoDeConstraint(base=None, order=1)
on_bad_batch = 'pass' | MoDeConstraint(on_bad_batch="pass", order=1)
has from_logits = True, and MoDeConstraint has from_logits = False | MoDeConstraint(base=LOGITS, order=1)(t, p)
has from_logits = False, and Mo.* = True | MoDeConstraint(base=keras.losses.binary_crossentropy, from_logits=True, order=1)(t, p)
"""


@pytest.mark.parametrize("from_logits", [True, False])
def test_two_outputs_of_a_softmax_get_the_push_of_their_log_odds(from_logits):
    classes = keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits)
    layers = [MoDeConstraint(order=1, base=base, from_logits=True) for base in (LOGITS, classes)]
    if not from_logits:
        layers[1] = MoDeConstraint(order=1, base=classes)
    y_true = pack(LABEL, MASS)
    outputs = np.stack([0 * ODDS, ODDS], 1)
    _, want = value_and_grad(lambda z: layers[0](y_true, z), ODDS)
    _, got = value_and_grad(lambda z: layers[1](y_true, z if from_logits else ops.softmax(z)), outputs)
    assert_close(got, np.stack([-want, want], 1), 1e-4)
    assert_close(layers[1]._layer._memory, layers[0]._layer._memory, 1e-4)


@pytest.mark.parametrize("message, call", on_keras.rows(BAD))
def test_bad_input(message, call):
    with pytest.raises((TypeError, ValueError), match=message):
        eval(call, globals() | {"t": pack(LABEL, MASS), "p": SCORE})


def test_a_label_that_is_missing_is_an_error():
    y_true = without_label(pack(LABEL, MASS))
    with pytest.raises(Exception, match=r"label\[7\] = nan: expected a number"):
        value_and_grad(lambda score: MoDeConstraint(order=1)(y_true, score), SCORE)


def test_a_batch_without_background_adds_nothing():
    signal, loss = pack(np.ones(N), MASS), MoDeConstraint(order=1)
    with pytest.warns(RuntimeWarning, match="MoDeConstraint gives a batch no gradient of MoDe: no event") as caught:
        for _ in range(3):
            _, grad = value_and_grad(lambda p: loss(signal, p), SCORE)
            assert_close(grad, entropy_and_gradient(SCORE, 1)[1], rtol=1e-4)
    assert loss.skipped == 3 and len(caught) == 1
    with pytest.raises(Exception, match="no event selected.*no gradient of MoDe"):
        value_and_grad(lambda p: MoDeConstraint(on_bad_batch="raise", order=1)(signal, p), SCORE)


@pytest.mark.parametrize("base", ["binary_crossentropy", "binary_focal_crossentropy", SPARSE])
def test_a_base_that_is_given_by_name_takes_logits_too(base):
    logits = np.stack([0 * ODDS, ODDS], 1) if base == SPARSE else ODDS
    scores = np.stack([1 - SCORE, SCORE], 1) if base == SPARSE else SCORE
    loss = MoDeConstraint(base=base, from_logits=True, order=1)
    for one in (loss, keras.losses.deserialize(keras.losses.serialize(loss))):
        value = float(ops.convert_to_numpy(one(pack(LABEL, MASS), logits)))
        want = float(ops.convert_to_numpy(MoDeConstraint(base=base, order=1)(pack(LABEL, MASS), scores)))
        assert value == pytest.approx(want, rel=1e-4)


# ------------------------------------------------------------- training

X, LABELS, MASSES = sample(3000)
Y = pack(LABELS, MASSES)


def trained(loss, epochs=15, compiled=None, **fed):
    model = network()
    more = {} if compiled is None else {"jit_compile": compiled}
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=[on_label("AUC", name="auc")], **more)
    fed = as_arrays(X, Y) | fed
    return model, model.fit(**fed, epochs=epochs, verbose=0, shuffle=False).history


def steps(loss):
    """The number of batches that count."""
    return loss._layer._memory[1]


def judged(model):
    """AUC, and MoDe of order 0, of other events."""
    x, label, mass = sample(10_000, seed=1)
    score = model.predict(x, batch_size=10_000, verbose=0)[:, 0]
    return metrics.auc(score, label), libmode.mode_loss(score, mass, label=label, order=0, bins=16)


def test_fit_makes_the_response_flat_and_keeps_the_classifier():
    carved_auc, carved = judged(trained(MoDeLoss(strength=0, order=0))[0])
    loss = MoDeConstraint(order=0)
    model, history = trained(loss, validation_data=(X, Y))
    auc, flat = judged(model)
    assert flat < carved / 20
    assert 0.75 < auc < carved_auc
    assert history["auc"][-1] > 0.75
    # The steps of the training alone were counted, and the loss is the cross entropy.
    assert steps(loss) == 15 * 6 and loss.skipped == 0
    score = model.predict(X, verbose=0)[:, 0]
    want, _ = entropy_and_gradient(np.clip(score, 1e-7, 1 - 1e-7), LABELS)  # as Keras does
    np.testing.assert_allclose(history["val_loss"][-1], want, rtol=1e-4)
    values = model.evaluate(X, Y, batch_size=3000, verbose=0, return_dict=True)
    np.testing.assert_allclose(values["loss"], want, rtol=1e-4)
    assert steps(loss) == 15 * 6


EDGES = np.array([-1.0, 0.3, 0.6, 2.0])


@pytest.mark.parametrize("make", [
    partial(MoDeConstraint, edges=EDGES), partial(MoDeConstraint, strength=20.0),
    partial(MoDeLoss, strength=20.0),
], ids=["constraint", "strength", "loss"])  # fmt: skip
def test_a_resumed_training_equals_one_that_went_on(make, tmp_path):
    model, _ = trained(make(order=0, score=0), epochs=2)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded.loss) is make.func and loaded.loss.get_config() == model.loss.get_config()
    for one in (model, loaded):
        one.fit(**as_arrays(X, Y), epochs=2, verbose=0, shuffle=False)
    for went_on, again in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(went_on, again)
    kept = model.loss.get_config()["memory"]
    assert kept == loaded.loss.get_config()["memory"]
    assert "memory" not in make(order=0, score=0).get_config()


def test_the_callback_reads_the_logits_of_the_constraint():
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("adam", MoDeConstraint(order=0, from_logits=True))
    x, label, mass = sample(6_000, seed=4)
    judge = MoDeCallback(x, label, mass, order=0)
    history = model.fit(X, Y, batch_size=3000, verbose=0, callbacks=[judge]).history
    score = 1 / (1 + np.exp(-model.predict(x, verbose=0)[:, 0].astype(float)))
    assert history["val_mode_auc"] == pytest.approx([metrics.auc(score, label)], rel=1e-6)
    assert str(judge.check) == str(metrics.check(score, label, mass, order=0))


@on_keras.TRACING_WARNS
@pytest.mark.usefixtures("jit")
def test_jit_compile():
    """JAX compiles it, PyTorch's compiler leaves it out, TensorFlow's XLA cannot call the core and says what to do."""
    if on_keras.BACKEND == "tensorflow":
        with pytest.raises(RuntimeError, match="jit_compile=False"):
            trained(MoDeConstraint(order=1), epochs=1, compiled=True)
        return
    loss = MoDeConstraint(order=1)
    _, history = trained(loss, epochs=1, compiled=True)
    _, want = trained(MoDeConstraint(order=1), epochs=1, compiled=False)
    np.testing.assert_allclose(history["loss"], want["loss"], rtol=1e-3)
    assert steps(loss) == 6


@pytest.mark.parametrize("kind", [MoDeConstraint, MoDeLoss])
def test_defaults_that_are_given_are_defaults_left_out(kind):
    found = []
    for more in ({}, DEFAULTS["mode"] | of_signature(kind)):
        own = kind(**{"order": 1} | more)
        found.append(value_and_grad(lambda score, own=own: ops.sum(own(pack(LABEL, MASS), score)), SCORE)[1])
    np.testing.assert_array_equal(*found)
