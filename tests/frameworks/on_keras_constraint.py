"""libmode.keras.MoDeConstraint on the backend that KERAS_BACKEND names: test_keras.py runs this file once for each."""

import importlib
from functools import partial

import keras
import libmode
import numpy as np
import pytest
from keras import ops
from libmode import metrics
from libmode._constraint import NUMBERS
from libmode.keras import MoDeConstraint, MoDeLoss, on_label, pack
from on_keras import BACKEND, TRACING_WARNS, as_arrays, float64, network, sample, value_and_grad
from pushed import pushed
from torch_layer import layered

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")
N = 512  # half of them background; no rank of these is at the limit of a cell, where rounding decides

FIRST = 4  # what the residual of the first batch is multiplied with


def events(seed=0, n=N):
    """Score, label, mass and weight."""
    rng = np.random.default_rng(seed)
    label, mass = np.arange(n) % 2, rng.random(n).astype(np.float32)
    score = np.clip(0.75 * rng.random(n) + 0.2 * mass + 0.05 * label, 0.01, 0.99).astype(np.float32)
    return score, label, mass, rng.uniform(0.5, 2, n).astype(np.float32)


def entropy_and_gradient(score, label, weight=1.0):
    """The mean of the weighted cross entropies, and its gradient."""
    score = score.astype(float)
    values = -(label * np.log(score) + (1 - label) * np.log(1 - score))
    return np.mean(weight * values), weight * (score - label) / (score * (1 - score)) / len(score)


def assert_close(grad, want, rtol=1e-4):
    np.testing.assert_allclose(grad, want, rtol=0, atol=rtol * np.abs(want).max())


# ------------------------------------------------------------- the gradient


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("options", [{}, {"order": 0, "bins": 8, "relative_strength": 3}], ids=str)
def test_the_value_is_that_of_the_base_and_the_gradient_has_a_push(options, weighted):
    score, label, mass, weight = events()
    sample_weight = np.linspace(0.5, 1.5, N).astype(np.float32)
    both = weight * sample_weight if weighted else None
    y_true = pack(label, mass, weight if weighted else None)
    want, incoming = entropy_and_gradient(score, label, both if weighted else 1.0)
    for base in ("binary_crossentropy", keras.losses.BinaryCrossentropy()):
        loss = MoDeConstraint(base=base, **options)
        value, grad = value_and_grad(lambda p: loss(y_true, p, sample_weight if weighted else None), score)  # noqa: B023
        np.testing.assert_allclose(value, want, rtol=1e-5)
        assert_close(grad, pushed(incoming, score, label, mass, both, **({"relative_strength": FIRST} | options)))


@pytest.mark.parametrize("arguments", [{}, {"tolerance": 1000.0}, {"relative_strength": 3.0}], ids=str)
def test_it_is_the_layer_of_pytorch(arguments, tmp_path):
    batches = [events(seed, 4000)[:3] for seed in range(6)]
    want, numbers = layered(batches, tmp_path, **arguments)
    loss = MoDeConstraint(**arguments)
    for (score, label, mass), theirs in zip(batches, want, strict=True):
        _, grad = value_and_grad(lambda p: loss(pack(label, mass), p[:, None]), score)  # noqa: B023
        assert_close(grad, theirs, rtol=1e-5)
    state = loss._added.state
    np.testing.assert_allclose(state[:NUMBERS], numbers[:NUMBERS], rtol=1e-3)
    if loss.relative_strength is None:
        assert_close(state.sums, numbers[NUMBERS:])
        assert np.abs(state.sums).max() > 0
    assert (state.factor < 1) == ("tolerance" in arguments)
    assert loss.dependence == state.dependence(arguments.get("tolerance", 100_000.0))


@pytest.mark.parametrize("column", [0, 2])
def test_one_of_several_outputs(column):
    score, label, mass, _ = events()
    others = 0.4 * np.random.default_rng(1).random((N, 2)).astype(np.float32)
    outputs = np.insert(others, column, score, axis=1)

    def base(label, y_pred):  # of which each output takes a part
        return ops.mean(ops.square(y_pred - label) * ops.convert_to_tensor(np.float32([1, 2, 3])), axis=1)

    _, grad = value_and_grad(lambda p: MoDeConstraint(base=base, score=column)(pack(label, mass), p), outputs)
    without = 2 * (outputs - label[:, None]) * [1, 2, 3] / 3 / N
    want = without.copy()
    want[:, column] = pushed(without[:, column], score, label, mass, relative_strength=FIRST)
    assert_close(grad, want)


def test_one_hot_labels_and_several_variables_with_categories():
    score, label, mass, _ = events()
    both, category = np.stack([mass, mass**2], axis=1), np.arange(N) // 2 % 2
    y_true = pack(np.eye(2)[label], both, category=category)
    outputs = np.stack([1 - score, score], axis=1)
    loss = MoDeConstraint(base="categorical_crossentropy", score=1, bins=4)
    _, grad = value_and_grad(lambda p: loss(y_true, p), outputs)
    _, without = value_and_grad(lambda p: ops.mean(keras.losses.categorical_crossentropy(np.eye(2)[label], p)), outputs)
    want = pushed(without[:, 1], score, label, both, category=category, bins=4, relative_strength=FIRST)
    assert_close(grad[:, 1], want)
    assert_close(grad[:, 0], without[:, 0])


def test_logits():
    score, label, mass, _ = events()
    base = keras.losses.BinaryCrossentropy(from_logits=True)
    loss = MoDeConstraint(base=base, from_logits=True)
    _, grad = value_and_grad(lambda p: loss(pack(label, mass), p), np.log(score / (1 - score)))
    _, incoming = entropy_and_gradient(score, label)
    want = pushed(incoming, score, label, mass, relative_strength=FIRST) * score * (1 - score)
    assert_close(grad, want, rtol=1e-3)


def test_all_events():
    score, label, mass, _ = events()
    loss = MoDeConstraint(background_only=False)
    _, grad = value_and_grad(lambda p: loss(pack(label, mass), p), score)
    _, incoming = entropy_and_gradient(score, label)
    assert_close(grad, pushed(incoming, score, 0 * label, mass, relative_strength=FIRST))


def test_outputs_of_mixed_precision():
    score, label, mass, _ = events()
    half = np.round(score * 1024).astype(np.float16) / 1024  # which float16 has
    grads = [
        value_and_grad(lambda p: MoDeConstraint()(pack(label, mass), p), array)[1]
        for array in (half, half.astype("f4"))
    ]
    assert grads[0].dtype == np.float16
    np.testing.assert_allclose(*grads, rtol=2e-3, atol=1e-6)


def test_float64():
    score, label, mass, _ = events()
    score, mass = score.astype(float), mass.astype(float)
    with float64():
        _, grad = value_and_grad(lambda p: MoDeConstraint(dtype="float64")(pack(label, mass), p), score)
    _, incoming = entropy_and_gradient(score, label)
    assert grad.dtype == np.float64
    assert_close(grad, pushed(incoming, score, label, mass, relative_strength=FIRST), rtol=1e-6)


# ------------------------------------------------------------- bad input

BAD = {
    "outputs": (lambda t, p: MoDeConstraint()(t, np.stack([p, p], 1)), ValueError, "say which output is the score"),
    "no such output": (lambda t, p: MoDeConstraint(score=2)(t, np.stack([p, p], 1)), ValueError, r"score = 2: y_pred of shape \(512, 2\)"),
    "score": (lambda t, p: MoDeConstraint(score=ops.sigmoid), TypeError, "score = .*: must be the number of an output"),
    "base": (lambda t, p: MoDeConstraint(base=None), ValueError, "base = None: a MoDeConstraint adds to the gradient"),
    "option": (lambda t, p: MoDeConstraint(order=17), ValueError, "order = 17"),
    "no option": (lambda t, p: MoDeConstraint(strength=3), TypeError, "unknown option 'strength'"),
    "positional": (lambda t, p: MoDeConstraint(1), TypeError, "the arguments of MoDeConstraint are given by name"),
    "relative_strength": (lambda t, p: MoDeConstraint(relative_strength=-1), ValueError, "relative_strength = -1: must be positive"),
    "tolerance": (lambda t, p: MoDeConstraint(tolerance=0), ValueError, "tolerance = 0: must be positive"),
    "on_bad_batch": (lambda t, p: MoDeConstraint(on_bad_batch="pass"), ValueError, "on_bad_batch = 'pass'"),
    "both": (lambda t, p: MoDeConstraint(relative_strength=3, tolerance=1e5), ValueError, "relative_strength = 3 and tolerance = 100000"),
    "transform": (lambda t, p: MoDeConstraint(score_transform="odds"), TypeError, "unknown option 'score_transform'"),
    "logits": (lambda t, p: MoDeConstraint(from_logits=True, score_range=(0, 2)), ValueError, "from_logits = True"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, kind, message = BAD[name]
    score, label, mass, _ = events()
    with pytest.raises(kind, match=message):
        call(pack(label, mass), score)


def test_a_batch_without_background_adds_nothing():
    score, _, mass, _ = events()
    signal, loss = pack(np.ones(N), mass), MoDeConstraint()
    with pytest.warns(RuntimeWarning, match="MoDeConstraint gives a batch no gradient of MoDe, and counts") as caught:
        for _ in range(3):
            _, grad = value_and_grad(lambda p: loss(signal, p), score)
            assert_close(grad, entropy_and_gradient(score, 1)[1])
    assert loss.skipped == 3 and len(caught) == 1
    with pytest.raises(Exception, match="no event selected.*drop_remainder=True.*no gradient of MoDe"):
        value_and_grad(lambda p: MoDeConstraint(on_bad_batch="raise")(signal, p), score)


def test_logits_that_are_taken_for_scores_are_an_error_in_fit():
    x, label, mass = sample(500)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("adam", MoDeConstraint(base=keras.losses.BinaryCrossentropy(from_logits=True)))
    with pytest.raises(Exception, match=r"score_range.*\(in training step 0\)"):
        model.fit(x, pack(label, mass), batch_size=500, verbose=0)


# ------------------------------------------------------------- training

X, LABEL, MASS = sample(3000)
Y = pack(LABEL, MASS)


def trained(loss, epochs=15, compiled=None, **fed):
    model = network()
    more = {} if compiled is None else {"jit_compile": compiled}
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=[on_label("AUC", name="auc")], **more)
    fed = as_arrays(X, Y) | fed
    return model, model.fit(**fed, epochs=epochs, verbose=0, shuffle=False).history


def judged(model):
    """AUC, and MoDe of order 0, of other events."""
    x, label, mass = sample(10_000, seed=1)
    score = model.predict(x, batch_size=10_000, verbose=0)[:, 0]
    return metrics.auc(score, label), libmode.mode_loss(score, mass, label=label, order=0, bins=16)


def test_fit_makes_the_response_flat_and_keeps_the_classifier():
    carved_auc, carved = judged(trained(MoDeLoss(strength=0))[0])
    loss = MoDeConstraint(order=0)
    model, history = trained(loss, validation_data=(X, Y))
    auc, flat = judged(model)
    assert flat < carved / 20
    assert 0.75 < auc < carved_auc
    assert history["auc"][-1] > 0.75
    # The steps of the training alone were counted, and the loss is the cross entropy.
    assert loss._added.state.steps == 15 * 6 and loss.skipped == 0
    score = model.predict(X, verbose=0)[:, 0]
    want, _ = entropy_and_gradient(np.clip(score, 1e-7, 1 - 1e-7), LABEL)  # as Keras does
    np.testing.assert_allclose(history["val_loss"][-1], want, rtol=1e-4)
    values = model.evaluate(X, Y, batch_size=3000, verbose=0, return_dict=True)
    np.testing.assert_allclose(values["loss"], want, rtol=1e-4)
    assert loss._added.state.steps == 15 * 6


@pytest.mark.parametrize("strength", [{}, {"relative_strength": 20.0}, {"tolerance": 1e6}], ids=str)
def test_save_load_and_go_on(strength, tmp_path):
    loss = MoDeConstraint(order=0, score=0, edges=np.array([-1.0, 0.3, 0.6, 2.0]), **strength)
    model, history = trained(loss, epochs=3)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded.loss) is MoDeConstraint and loaded.loss.get_config() == loss.get_config()
    assert loaded.loss.relative_strength == strength.get("relative_strength")
    again = loaded.evaluate(X, Y, batch_size=3000, verbose=0, return_dict=True)["loss"]
    np.testing.assert_allclose(again, model.evaluate(X, Y, batch_size=3000, verbose=0, return_dict=True)["loss"])
    assert np.isnan(loaded.loss.mode_loss) and np.isfinite(loss.mode_loss)
    more = loaded.fit(**as_arrays(X, Y), epochs=1, verbose=0, shuffle=False).history["loss"][0]
    assert more < 1.1 * history["loss"][-1] and np.isfinite(loaded.loss.mode_loss)


@TRACING_WARNS
def test_jit_compile(monkeypatch):
    """JAX compiles it, PyTorch's compiler leaves it out, TensorFlow's XLA cannot call the core and says what to do."""
    if BACKEND == "tensorflow":
        with pytest.raises(RuntimeError, match="jit_compile=False"):
            trained(MoDeConstraint(), epochs=1, compiled=True)
        return
    if BACKEND == "torch":  # what it traced runs as it is, without a C++ compiler
        torch = importlib.import_module("torch")
        monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    loss = MoDeConstraint()
    _, history = trained(loss, epochs=1, compiled=True)
    _, want = trained(MoDeConstraint(), epochs=1, compiled=False)
    np.testing.assert_allclose(history["loss"], want["loss"], rtol=1e-3)
    assert loss._added.state.steps == 6


@pytest.mark.parametrize("monitor", [True, False])
def test_a_classifier_that_gives_up_is_said(monitor, recwarn):
    loss = MoDeConstraint(monitor=monitor)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, "sigmoid", kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.0), loss)  # all scores stay 0.5
    model.fit(X, Y, batch_size=100, epochs=4, verbose=0)
    said = [str(warning.message) for warning in recwarn if issubclass(warning.category, libmode.TrainingWarning)]
    assert len(said) == monitor
    assert not said or "the network gives every event the same one" in said[0]
