"""libmode.keras on the backend that KERAS_BACKEND names: test_keras.py runs this file once for each."""

import importlib
import shutil
from contextlib import nullcontext
from functools import partial

import error_cases
import golden
import keras
import libmode
import numpy as np
import pandas as pd
import pytest
from keras import ops
from libmode import metrics
from libmode.keras import MoDeCallback, MoDeConstraint, MoDeLoss, on_label, pack

BACKEND = keras.backend.backend()
# What Keras and PyTorch do between themselves.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")
OPTIONS = dict(order=1, bins=5, unbiased=True, moments="projection")
N = 200


def float64():
    """Lets the backend have float64: JAX must be asked."""
    return importlib.import_module("jax").enable_x64(True) if BACKEND == "jax" else nullcontext()


def value_and_grad(function, array, compiled=False):
    """The value of a function of one tensor, and its gradient, as NumPy has them; PyTorch compiles nothing."""
    if BACKEND == "tensorflow":
        import tensorflow as tf

        def both(tensor):
            with tf.GradientTape() as tape:
                tape.watch(tensor)
                value = function(tensor)
            return value, tape.gradient(value, tensor)

        value, grad = (tf.function(both) if compiled else both)(tf.constant(array))
        return value.numpy(), grad.numpy()
    if BACKEND == "jax":
        import jax

        both = jax.value_and_grad(function)
        value, grad = (jax.jit(both) if compiled else both)(array)
        return np.asarray(value), np.asarray(grad)
    import torch

    tensor = torch.tensor(array, requires_grad=True)
    value = function(tensor)
    value.backward()
    return value.detach().numpy(), tensor.grad.numpy()


def number(tensor):
    return float(ops.convert_to_numpy(tensor))


def events(n=N, seed=0):
    """Label, mass, weight and score."""
    rng = np.random.default_rng(seed)
    mass = rng.uniform(50, 300, n).astype(np.float32)
    label = rng.integers(0, 2, n)
    weight = rng.choice([0.5, 1.0, -0.25], n, p=[0.45, 0.45, 0.1]).astype(np.float32)
    score = np.clip(rng.random(n) * mass / 300, 0.01, 0.99).astype(np.float32)
    return label, mass, weight, score


def of_numpy(score, label, mass, weight=None, **options):
    return libmode.mode_loss(score, mass, weight=weight, label=label, **({"order": 0} | OPTIONS | options))


def cross_entropy(label, score):
    """Of each event."""
    score = score.astype(float)
    return -(label * np.log(score) + (1 - label) * np.log(1 - score))


# ------------------------------------------------------------- the loss


@pytest.mark.parametrize("dtype, tolerance, compiled", [("float32", 1e-5, False), ("float64", 1e-9, True)])
def test_golden(golden_case, dtype, tolerance, compiled):
    score, mass, weight, label, category = golden_case.events(np.dtype(dtype)).values()
    y_true = pack(np.zeros(len(score)) if label is None else label, mass, weight, category)
    loss = MoDeLoss(base=None, dtype=dtype, **({"order": 0} | golden_case.options))
    with float64() if dtype == "float64" else nullcontext():
        value, grad = value_and_grad(lambda pred: loss(y_true, pred), score, compiled)
    assert value.dtype == grad.dtype == dtype
    golden.assert_close(value, golden_case.loss, tolerance)
    golden.assert_close(grad, golden_case.grad, tolerance)


def test_both_parts_and_both_weights():
    label, mass, weight, score = events()
    sample_weight = np.linspace(0.5, 1.5, N).astype(np.float32)
    total = weight * sample_weight
    want = np.mean(total * cross_entropy(label, score)) + of_numpy(score, label, mass, total)
    # A class of loss with the reduction that a function gets.
    for base in ("binary_crossentropy", keras.losses.BinaryCrossentropy()):
        loss = MoDeLoss(base=base, **OPTIONS)
        for shape in ((N,), (N, 1)):
            got = loss(pack(label, mass, weight), score.reshape(shape), sample_weight.reshape(shape))
            np.testing.assert_allclose(number(got), want, rtol=1e-5)


@pytest.mark.parametrize("kind", [MoDeLoss, MoDeConstraint])
def test_the_base_may_have_weights_of_its_own(kind):
    """Planing weights in MoDe cost a tail its AUC: .51 in place of .96."""
    label, mass, weight, score = events()
    of_base, sample_weight = np.random.default_rng(1).uniform(0, 2, (2, N)).astype(np.float32)
    y_true = pack(label, mass, weight, np.zeros(N, int), base_weight=of_base)
    assert y_true.dtype == np.float32
    want = np.mean(of_base * sample_weight * cross_entropy(label, score))
    if kind is MoDeLoss:
        want += of_numpy(score, label, mass, weight * sample_weight)
    got = kind(**({"order": 0} | OPTIONS if kind is MoDeLoss else {"order": 0}))(y_true, score, sample_weight)
    np.testing.assert_allclose(number(got), want, rtol=1e-5)


def test_a_strength_is_relative_to_the_gradient_of_cross_entropy():
    label, mass, weight, score = events()
    push = (weight / (1 - score.astype(float)))[label == 0]
    plain, grad = libmode.mode_loss_and_grad(score, mass, weight=weight, label=label, **OPTIONS)
    want = 3 * np.linalg.norm(push) / N / np.linalg.norm(grad) * plain
    loss = MoDeLoss(strength=3, base=None, **OPTIONS)
    for _ in range(2):  # of equal batches, whose norms are their averages
        np.testing.assert_allclose(number(loss(pack(label, mass, weight), score)), want, rtol=1e-4)


def test_what_loss_of_keras_does_to_its_arguments_does_not_matter():
    """Its __call__ multiplies a scalar by mean(sample_weight), and casts y_true to float32."""
    label, mass, _, score = events()
    loss = MoDeLoss(base=None, **OPTIONS)
    plain, tripled = loss(pack(label, mass), score), loss(pack(label, mass), score, np.full(N, 3, np.float32))
    np.testing.assert_allclose(number(tripled), number(plain), rtol=1e-6)
    close = 1e9 + mass.astype(np.float64) / 100
    assert len(np.unique(close.astype(np.float32))) == 1
    with float64():
        np.testing.assert_allclose(number(loss(pack(label, close), score)), of_numpy(score, label, close), rtol=1e-5)
    half = score.astype(np.float16)  # of mixed precision
    pooled = MoDeLoss(base=None, background_only=False, **OPTIONS)(pack(label, mass), ops.convert_to_tensor(half))
    np.testing.assert_allclose(number(pooled), of_numpy(half.astype(np.float32), None, mass), rtol=1e-5)


@pytest.mark.parametrize(
    "base, score",
    [("sparse_categorical_crossentropy", 2), ("categorical_crossentropy", lambda y_pred: y_pred[:, 2])],
    ids=["output", "callable"],
)
@pytest.mark.parametrize("several", [False, True])
def test_several_classes_and_several_variables_with_categories(base, score, several):
    _, mass, weight, _ = events()
    rng = np.random.default_rng(1)
    outputs, label = rng.dirichlet([1, 1, 1], N).astype(np.float32), rng.integers(0, 3, N)
    mass, category = (np.stack([mass, 1 / mass], axis=1), np.arange(N) // 70) if several else (mass, None)
    weight, sample_weight = np.abs(weight), np.linspace(0.5, 1.5, N).astype(np.float32)
    given = label if base.startswith("sparse") else np.eye(3)[label]
    mode = MoDeLoss(base=base, score=score, background_label=1, **OPTIONS)
    loss = mode(pack(given, mass, weight, category), outputs, sample_weight)
    total = weight * sample_weight
    want = of_numpy(outputs[:, 2], label, mass, total, category=category, background_label=1)
    want += np.mean(-total * np.log(outputs[np.arange(N), label]))
    np.testing.assert_allclose(number(loss), want, rtol=1e-4)


def test_pack():
    label, mass, weight, _ = events()
    assert pack(label, mass).dtype == np.float32
    packed = pack(label[:, None], mass[:, None], weight)
    assert packed.shape == (N, 2, 2) and (packed[:, 0, 0] == label).all()
    assert (packed[:, 1] == np.column_stack([mass, weight])).all()
    assert pack(label, mass.astype(float)).dtype == np.float64
    both, category = np.stack([mass, 2 * mass], axis=1), np.arange(N) % 5
    packed = pack(np.eye(3)[label], both)
    assert packed.dtype == np.float32 and packed.shape == (N, 4, 3)
    assert (packed[:, :3, 0] == np.eye(3)[label]).all()
    assert (packed[:, 3] == np.column_stack([both, np.ones(N)])).all()
    of_classes = pack(np.eye(3)[label], mass, weight, category)
    assert of_classes.shape == (N, 4, 2, 2) and (of_classes[:, 0, 0, 1] == category).all()
    assert pack(label, both[:, :1]).shape == (N, 2, 2)  # one variable


@pytest.mark.parametrize(
    "arguments",
    [
        dict(base=None, edges=np.array([50.0, 100, 300]), background_label=(0, 1), dtype="float32", strength=3),
        dict(base=keras.losses.BinaryCrossentropy(from_logits=True), score=keras.activations.sigmoid),
        dict(bins=[4], mass_range=np.array([[50.0, 290.0]]), joint=False, background_only=False),
    ],
    ids=["arrays", "objects", "of one variable"],
)
def test_it_is_serialized(arguments):
    label, mass, _, score = events()
    loss = MoDeLoss(**({"order": 0} | arguments))
    other = keras.losses.deserialize(keras.losses.serialize(loss))
    assert other.get_config() == loss.get_config()
    assert number(other(pack(label, mass), score)) == number(loss(pack(label, mass), score))


# --------------------------------------------------------------- metrics


@pytest.mark.parametrize("metric", ["binary_accuracy", keras.metrics.BinaryAccuracy(threshold=0.4)])
def test_on_label(metric):
    label, mass, _, score = events()
    wrapped = on_label(metric)
    plain = keras.metrics.get(metric)
    plain = plain if isinstance(plain, keras.metrics.Metric) else keras.metrics.MeanMetricWrapper(plain)
    for _ in range(2):
        wrapped.reset_state()
        for half in (slice(0, 50), slice(50, N)):
            wrapped.update_state(pack(label, mass)[half], score[half, None])
        plain.reset_state()
        plain.update_state(label[:, None], score[:, None])
        np.testing.assert_allclose(number(wrapped.result()), number(plain.result()), rtol=1e-6)
    again = keras.metrics.deserialize(keras.metrics.serialize(wrapped))
    assert again.name == wrapped.name
    again.update_state(pack(label, mass), score[:, None])
    assert number(again.result()) == number(wrapped.result())


def without_label(packed):
    """What pack made, where the label of an event is missing."""
    return np.where(np.arange(packed.size).reshape(packed.shape) == 7 * packed[0].size, np.nan, packed)


# ------------------------------------------------------------- bad input

#: A sentence, and the call that raises it: of t, what pack makes of labels and masses, and of p, 200 scores.
BAD = r"""
y_true has shape \(200, 1, 2\): expected the columns | MoDeLoss(order=0)(t[:, :1], p)
base = 'binary_crossentropy' and y_pred of shape \(200, 2\): label has 1 column\. Give | MoDeLoss(order=0, score=0)(t, two(p))
y_pred of shape \(200, 2\): label has 1 column | MoDeLoss(order=0, score=0, base=keras.losses.MeanSquaredError())(t, two(p))
base = 'mse' and y_pred of shape \(200,\): label has 2 columns | MoDeLoss(order=0, base="mse")(pack(np.eye(2)[of(t)], p), p)
a softmax has an output for each class. Give base='binary_crossentropy' | MoDeLoss(order=0, base=SPARSE)(t, p[:, None])
y_pred has shape \(200, 2\): say which output | MoDeLoss(base=None, order=0)(t, two(p))
apply a sigmoid to raw outputs | MoDeLoss(base=None, order=0)(t, 9 * p)
mass has length 200, but y_pred has length 199 | MoDeLoss(order=0)(t, p[1:])
sample_weight has length 199, but y_true has length 200 | MoDeLoss(order=0)(t, p, p[1:])
give it a reduction | MoDeLoss(base=keras.losses.BinaryCrossentropy(reduction=None), order=0)(t, p)
expected one value for each event | MoDeLoss(base=lambda t, p: ops.mean(p), order=0)(t, p)
metric = 'accuracy': Keras has several accuracies, give 'binary_accuracy',  | on_label("accuracy")
label\[7\] = nan: expected a number | pack(np.where(np.arange(200) == 7, np.nan, of(t)), p)
label\[7\] = nan: expected a number | MoDeLoss(base=None, order=0)(without_label(t), p)
category\[129\] = 16908288: exceeds 2\^24 | pack(of(t), p, category=np.arange(200) * 2**17)
have different indexes | pack(pd.Series(of(t)), pd.Series(p)[::-1])
"""
SPARSE = "sparse_categorical_crossentropy"


def rows(table):
    return [line.split(" | ") for line in table.strip().splitlines()]


def two(score):
    """Two columns of outputs."""
    return np.stack([score, score], 1)


def of(packed):
    """The labels that were packed."""
    return packed[:, 0, 0].astype(int)


@pytest.mark.parametrize("message, call", rows(BAD))
def test_bad_input(message, call):
    label, mass, _, score = events()
    with pytest.raises((TypeError, ValueError), match=message):
        eval(call, globals() | {"t": pack(label, mass), "p": score, "pd": pd})


@pytest.mark.parametrize("case", error_cases.EVENTS[:4] + error_cases.FRONT_OPTIONS[:2], ids=lambda case: case.input)
def test_the_error_is_that_of_the_core(case):
    given = case.arguments()
    score, *events = (given.pop(name) for name in ("score", "label", "mass", "weight"))
    with float64(), pytest.raises(case.error) as caught:
        MoDeLoss(base=None, dtype="float64", on_bad_batch="raise", **({"order": 0} | given))(pack(*events), score)
    assert case.is_in(caught.value), str(caught.value)


def test_bad_events_in_fit_are_the_sentence_of_the_library():
    x, label, mass = sample(500)
    model = network()
    model.compile("adam", MoDeLoss(strength=10, **OPTIONS))
    with pytest.raises(Exception, match=r"score\[\d+\] = NaN: every score of a selected event must be finite"):
        model.fit(x * np.nan, pack(label, mass), batch_size=500, verbose=0)


@pytest.fixture
def jit(monkeypatch):
    """Where there is no C++ compiler, which PyTorch's own needs, what it traced runs as it is."""
    if BACKEND == "torch" and not any(map(shutil.which, ("c++", "g++", "clang++"))):
        torch = importlib.import_module("torch")
        monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))


# PyTorch's tracing itself looks at .grad, and its compiler for Python.h, each of which it warns of.
TRACING_WARNS = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor", "ignore:Can't find Python.h")


# ----------------------------------------------------------- bad batches


def test_a_batch_without_background_is_skipped_if_that_is_wanted():
    label, mass, _, score = events()
    signal = pack(np.ones(N), mass)
    with pytest.raises(Exception, match="small last batch.*on_bad_batch='skip'"):
        MoDeLoss(on_bad_batch="raise", **OPTIONS)(signal, score)
    loss = MoDeLoss(base=None, **OPTIONS)
    with pytest.warns(RuntimeWarning, match="MoDeLoss gives a batch the loss 0.*no event selected") as caught:
        for _ in range(3):
            value, grad = value_and_grad(lambda pred: loss(signal, pred), score)
            assert value == 0 and grad.shape == (N,) and not grad.any()
    assert loss.skipped == 3
    assert sum(issubclass(warning.category, RuntimeWarning) for warning in caught) == 1
    good = pack(label, mass)
    assert number(loss(good, score)) == number(MoDeLoss(base=None, **OPTIONS)(good, score)) != 0
    with pytest.raises(Exception, match="NaN"):
        loss(good, score * np.nan)
    assert loss.skipped == 3


# TensorFlow's XLA cannot call the loss: on_keras_constraint.py.
@pytest.mark.parametrize("jit_compile", [False] if BACKEND == "tensorflow" else [False, True])
@TRACING_WARNS
def test_a_training_with_a_bad_last_batch_goes_on(jit, jit_compile):
    x, label, mass = sample(1010)
    label[1000:] = 1  # the last batch
    loss = MoDeLoss(strength=10, **OPTIONS)
    model = network()
    model.compile("adam", loss, jit_compile=jit_compile)
    with pytest.warns(RuntimeWarning, match="no event selected"):
        history = model.fit(x, pack(label, mass), batch_size=500, epochs=2, verbose=0, shuffle=False).history
    assert np.isfinite(history["loss"]).all()
    assert loss.skipped == 2


# -------------------------------------------------------------- training


def sample(n, seed=0):
    """Features, one of which gives the mass away, label and mass: the signal is a peak."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    mass = np.where(label == 1, rng.normal(0.5, 0.05, n), rng.random(n)).astype(np.float32)
    x = np.stack([rng.normal(1.5 * label, 1), np.abs(mass - 0.5) * 4 - 1], axis=1).astype(np.float32)
    return x, label, mass


def network():
    keras.utils.set_random_seed(3)
    layers = keras.layers
    return keras.Sequential(
        [layers.Input((2,)), layers.Dense(16, "silu"), layers.Dense(16, "silu"), layers.Dense(1, "sigmoid")]
    )


def as_arrays(x, y):
    return dict(x=x, y=y, batch_size=500)


def as_tf_data(x, y):
    data = importlib.import_module("tensorflow").data
    return dict(x=data.Dataset.from_tensor_slices((x, y)).batch(500, drop_remainder=True))


X, LABEL, MASS = sample(3000)
Y = pack(LABEL, MASS)


def trained(strength, fed):
    """The history of a training, and how far the background's scores depend on its mass, on other events."""
    model = network()
    loss = MoDeLoss(strength=strength, **OPTIONS)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=[on_label("AUC", name="auc")])
    history = model.fit(**fed, epochs=12, verbose=0, shuffle=False).history
    x, label, mass = sample(5000, seed=1)
    return history, libmode.mode_loss(model.predict(x, verbose=0), mass, label=label, **OPTIONS)


def test_fit_flattens_and_separates():
    history, carving = trained(3, as_tf_data(X, Y))
    assert history["loss"][-1] < 0.8 * history["loss"][0]
    assert history["auc"][-1] > 0.75
    assert carving < 0.3 * trained(0, as_arrays(X, Y))[1]


# --------------------------------------------------------- the callback


def logged(score, label, mass, weight=None, **options):
    """The AUC and the numbers of the check, with NaN for None."""
    found = metrics.check(score, label, mass, weight=weight, **options).to_dict()
    found = {"auc": metrics.auc(score, label, weight=weight), **found}
    known = {name: value for name, value in found.items() if not isinstance(value, str)}
    return {name: np.nan if value is None else float(value) for name, value in known.items()}


def fit_with(*callbacks):
    """What fit returned, its model, and features, label and mass; the callbacks are functions of the last three."""
    features, label, mass = sample(4000, seed=5)
    keras.utils.set_random_seed(5)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.SGD(0.5), "binary_crossentropy")
    made = [callback(features, label, mass) for callback in callbacks]
    history = model.fit(features, label, epochs=3, batch_size=500, shuffle=False, verbose=0, callbacks=made)
    return history.history, model, (features, label, mass)


def test_the_callback_logs_the_summary_where_everybody_sees_it_and_changes_nothing_in_the_training(tmp_path):
    best = keras.callbacks.ModelCheckpoint(
        tmp_path / "best.keras", monitor="val_mode_sensitivity", mode="max", save_best_only=True
    )
    history, model, (features, label, mass) = fit_with(partial(MoDeCallback, order=0), lambda *_: best)
    want = logged(model.predict(features, verbose=0), label, mass, order=0)
    assert {name: history[f"val_mode_{name}"][-1] for name in want} == pytest.approx(want, rel=1e-6, nan_ok=True)
    assert len(set(history["val_mode_auc"])) == 3
    kept = keras.models.load_model(tmp_path / "best.keras").predict(features, verbose=0)
    sensitivity = metrics.check(kept, label, mass, order=0).sensitivity
    assert sensitivity == pytest.approx(max(history["val_mode_sensitivity"]), rel=1e-6)
    for one, other in zip(model.get_weights(), fit_with()[1].get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_callback_takes_weights_and_one_of_several_outputs():
    rng = np.random.default_rng(6)
    features, label, mass = rng.normal(size=(1000, 3)).astype(np.float32), rng.integers(0, 2, 1000), rng.random(1000)
    weight = rng.choice([1.0, 2.0], 1000)
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Activation("linear")])
    options = dict(order=0, signal_efficiency=0.7)
    for score, want in ((2, features[:, 2]), (lambda outputs: outputs[:, 1] / 2, features[:, 1] / 2)):
        own = MoDeCallback(
            features, label[:, None], mass, weight, score=score, batch_size=100, prefix="test_", **options
        )
        own.set_model(model)
        logs = {}
        own.on_epoch_end(0, logs)
        want = logged(want, label, mass, weight=weight, **options)
        assert logs == pytest.approx({f"test_{k}": value for k, value in want.items()}, rel=1e-4, nan_ok=True)
