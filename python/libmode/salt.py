"""MoDe in salt (umami-hep/salt): a task for the YAML in place of ``salt.models.ClassificationTask``, and a callback.

docs/weaver.md has the lines of the YAML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from ._messages import needed
from ._of_classes import MoDeOfClasses

with needed("salt", by="libmode.salt", extra="salt"):
    from lightning import Callback
    from salt.models import ClassificationTask

LARGEST = 1e6  # 1 over the sensitivity, if it is unknown: salt reads numbers in names of checkpoints


class MoDeClassificationTask(ClassificationTask):
    """salt's task of classes of jets, with MoDe between logits and loss.

    Parameters
    ----------
    targets : str
        The mass: a variable of the jets in the H5 file, which salt loads with the labels. It is no input.
    background_classes, signal_class : list of str, str
        Those of ``class_names`` that are background, and by default the class that is left.
    each_class : bool
        Makes each of the background classes flat, in place of their sum.
    method : "layer", "loss" or "none"
        :class:`libmode.torch.MoDeConstraint`, :class:`libmode.torch.MoDeLoss` or neither.
    order, options, check : int, dict, dict
        Arguments of the layer or the loss, such as ``mass_range``, and of :func:`libmode.metrics.check`.
    **kwargs
        Those of ``ClassificationTask``. ``sample_weight`` weights MoDe too.
    """

    def __init__(
        self, targets: str, order: int, background_classes: list[str], signal_class: str | None = None,
        each_class: bool = False, method: str = "layer", options: dict[str, Any] | None = None,
        check: dict[str, Any] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.targets = targets
        self.mode = MoDeOfClasses(
            self.class_names, order=order, background_classes=background_classes, signal_class=signal_class,
            each_class=each_class, method=method, check=check, **options or {},
        )  # fmt: skip
        self._labels: Mapping[str, Tensor] | None = None  # of the batch on its way
        self._added: Tensor | float = 0.0
        self.net.register_forward_hook(self._push)

    def events(self, labels: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
        """The classes, masses and weights of a batch, (n,) each."""
        label = labels[self.label]
        if self.label_map is not None:
            mapped = torch.clone(label)
            for value, column in self.label_map.items():
                mapped[label == value] = column
            label = mapped
        return label, labels[self.targets], None if self.sample_weight is None else labels[self.sample_weight]

    def _push(self, net: Any, inputs: Any, logits: Tensor) -> Tensor:
        """The logits of the network, with the push of the layer in their gradient."""
        if self._labels is not None:
            logits, self._added = self.mode(logits, *self.events(self._labels))
        return logits

    def forward(
        self, x: Tensor, labels_dict: Mapping[str, Any], pad_masks: Mapping[str, Any] | None = None,
        context: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """As of ``ClassificationTask``."""
        self._labels, self._added = (labels_dict or {}).get(self.input_name) if self.training else None, 0.0
        try:
            logits, loss = super().forward(x, labels_dict, pad_masks, context)
        finally:
            self._labels, added, self._added = None, self._added, 0.0
        return logits, loss if loss is None else loss + self.weight * added


class MoDeVerdict(Callback):
    """Prints the verdict of :func:`libmode.metrics.check` after each validation, and logs its numbers."""

    def __init__(self) -> None:
        self.events: dict[str, list[Any]] = {}

    def on_validation_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *batch: Any) -> None:
        for task in _tasks(pl_module):
            logits = outputs["outputs"]["preds"][task.input_name][task.name]
            events = logits.float(), *task.events(outputs["outputs"]["labels"][task.input_name])
            on_host = [None if each is None else each.detach().cpu() for each in events]
            self.events.setdefault(task.name, []).append(on_host)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        for task in _tasks(pl_module):
            own = self.events.pop(task.name, [])
            parts = [own]
            if dist.is_initialized() and dist.get_world_size() > 1:
                parts *= dist.get_world_size()
                dist.all_gather_object(parts, own)
            if trainer.sanity_checking:
                continue
            batches = [batch for part in parts for batch in part]
            check = task.mode.check(batches)
            if trainer.is_global_zero:
                epoch = f"Epoch {trainer.current_epoch}"
                print(f"{epoch}: MoDe finds this validation of {task.name} {check.why}", flush=True)
            numbers = {name: float(value) for name, value in check.to_dict().items() if isinstance(value, float | bool)}
            numbers["loss"] = 1 / max(check.rank, 1 / LARGEST)
            pl_module.log_dict(
                {f"val/{task.name}_mode_{name}": value for name, value in numbers.items()}, rank_zero_only=False
            )


def _tasks(pl_module: Any) -> list[MoDeClassificationTask]:
    model = getattr(pl_module.model, "_orig_mod", pl_module.model)
    return [task for task in model.tasks if isinstance(task, MoDeClassificationTask)]
