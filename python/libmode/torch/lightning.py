"""A callback for Lightning that logs the layer during the training, and the metrics of each validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from .._events import NOT_WEIGHT
from .._messages import needed
from .constraint import MoDeConstraint
from .metrics import MoDeMetrics

if find_spec("lightning") is None and find_spec("pytorch_lightning") is not None:
    from pytorch_lightning import Callback
else:
    with needed("lightning", by="libmode.torch.lightning", extra="lightning"):
        from lightning.pytorch import Callback


class MoDeCallback(Callback):
    """Logs through ``self.log`` of the LightningModule, so that loggers, progress bar and other callbacks see it.

    At each step at which the trainer logs, it logs the attributes of each :class:`libmode.torch.MoDeConstraint` inside
    the module: ``mode_loss``, ``mode_scale``, ``mode_factor``, ``mode_dependence`` and ``mode_dependence_error``. With
    several layers, the name of the layer follows: ``mode_loss/head.constraint``.

    After each validation except the sanity check, it logs the numbers of ``metrics``. Use them for ``EarlyStopping``
    and ``ModelCheckpoint``: ``monitor="val_mode_sensitivity", mode="max"``.

    Parameters
    ----------
    metrics : MoDeMetrics, optional
        The metrics of validations; by default none.
    events : callable, optional
        ``events(outputs, batch)`` returns the scored events of a validation batch, as a dict of score, label, mass and,
        if the events have weights, weight: the arguments of :meth:`libmode.torch.MoDeMetrics.update`. By default
        ``outputs``, the result of ``validation_step``, has these entries.

    Raises
    ------
    TypeError
        If ``metrics`` has another type, and at the first batch of a validation without these entries.

    Examples
    --------
    >>> from libmode.torch import MoDeMetrics
    >>> from libmode.torch.lightning import MoDeCallback
    >>> callback = MoDeCallback(MoDeMetrics(order=1))  # for Trainer(callbacks=[callback]), see docs/recipes.md
    >>> callback.metrics.prefix
    'val_mode_'
    """

    def __init__(
        self, metrics: MoDeMetrics | None = None, *, events: Callable[[Any, Any], Mapping[str, Any]] | None = None
    ) -> None:
        super().__init__()
        if metrics is not None and not isinstance(metrics, MoDeMetrics):
            raise TypeError(f"metrics is {type(metrics).__name__}: expected libmode.torch.MoDeMetrics or None")
        self.metrics, self._events = metrics, events

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        """Logs the layers."""
        # Reading the scale waits for the accelerator, so only steps with logs read it.
        if not getattr(getattr(trainer, "_logger_connector", None), "should_update_logs", True):
            return
        layers = {name: part for name, part in pl_module.named_modules() if isinstance(part, MoDeConstraint)}
        for name, layer in layers.items():
            end = f"/{name}" if len(layers) > 1 else ""
            value, error = layer.dependence
            numbers = {"loss": layer.loss, "scale": layer.scale, "factor": layer.factor}
            numbers |= {"dependence": value, "dependence_error": error}
            known = {f"mode_{what}{end}": number for what, number in numbers.items() if math.isfinite(number)}
            pl_module.log_dict(known, on_step=True, on_epoch=False)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Lets the layers say whether the response has become flat."""
        for part in pl_module.modules():
            if isinstance(part, MoDeConstraint) and part._statement is not None:
                part._statement.say()

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Forgets the events of the previous validation."""
        if self.metrics is not None:
            self.metrics.reset()

    def on_validation_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        """Collects the events."""
        if self.metrics is None or trainer.sanity_checking:
            return
        scored = outputs if self._events is None else self._events(outputs, batch)
        if not isinstance(scored, Mapping) or not {"score", "label", "mass"} <= scored.keys():
            what = "validation_step returned" if self._events is None else "events(outputs, batch) returned"
            has = sorted(map(str, scored)) if isinstance(scored, Mapping) else type(scored).__name__
            raise TypeError(f"{what} {has}: expected a dict with the entries score, label and mass, and perhaps weight")
        weight = {name: scored[name] for name in ("weight", *NOT_WEIGHT) if name in scored}
        self.metrics.update(scored["score"], scored["label"], scored["mass"], **weight)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Logs the metrics."""
        if self.metrics is not None and not trainer.sanity_checking:
            # The numbers are the same in each process. Lightning asks for their mean, which changes nothing.
            pl_module.log_dict(self.metrics.compute(), sync_dist=trainer.world_size > 1)
