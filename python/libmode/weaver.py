"""MoDe in weaver-core: the hooks that a network's file imports, ``get_train_fn``, ``get_evaluate_fn`` and ``get_loss``.

The network's option ``mode`` has the settings, and a variable of ``monitor_variables`` is the mass. weaver's own loops
train and evaluate: docs/weaver.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ._messages import needed
from ._of_classes import MoDeOfClasses

with needed("weaver", by="libmode.weaver", extra="weaver"):
    from weaver.utils.logger import _logger
    from weaver.utils.nn.tools import AllGather, evaluate_classification, train_classification

IMPORT = "from libmode.weaver import get_evaluate_fn, get_loss, get_train_fn"


def get_train_fn(data_config: Any, mode: Any = None, **options: Any) -> Train:
    """The training of an epoch by weaver's own loop, with MoDe between logits and loss."""
    module = sys._getframe(1).f_locals.get("network_module")  # weaver ignores one hook without the other
    if module is not None and not hasattr(module, "get_evaluate_fn"):
        raise RuntimeError(f"the network's file has no get_evaluate_fn, and weaver would train without MoDe: {IMPORT}")
    return Train(mode)


def get_evaluate_fn(data_config: Any, mode: Any = None, **options: Any) -> Any:
    """The evaluation by weaver's own loop; a validation logs the verdict of :func:`libmode.metrics.check`."""
    return partial(evaluate, mode)


def get_loss(data_config: Any, **options: Any) -> torch.nn.Module:
    """The cross entropy, which raises RuntimeError in a training without :func:`get_train_fn`."""
    return CrossEntropy()


class CrossEntropy(torch.nn.CrossEntropyLoss):
    hooked = False

    def forward(self, logits: Tensor, label: Tensor) -> Tensor:
        if torch.is_grad_enabled() and not self.hooked:
            raise RuntimeError(
                f"weaver trains without MoDe, the network's file lacks a hook: {IMPORT}; --lr-finder needs another loss"
            )
        return super().forward(logits, label)


class Batches:
    """weaver's loader, which keeps the monitor variables of the batch on its way, and the settings of MoDe."""

    def __init__(self, loader: Any, mode: Any) -> None:
        self.loader, self.dataset, config = loader, loader.dataset, loader.dataset.config
        if not isinstance(mode, dict):
            raise ValueError(
                f"the network's option mode is {mode!r}: expected a dict, such as --network-option mode "
                "\"{'order': 1, 'background_classes': ['label_QCD']}\""
            )
        if config.label_type != "simple":
            raise ValueError(f"the labels are of type {config.label_type!r}, and MoDe needs classes, type 'simple'")
        self.classes = config.label_value
        self.options = {name: mode[name] for name in mode if name not in ("mass", "weight")}
        known, weight = config.monitor_variables, mode.get("weight")
        mass = mode.get("mass", known[0] if len(known) == 1 else None)
        self.names = mass, weight
        for what, name in [("mass", mass), ("weight", weight)][: 1 if weight is None else 2]:
            if name not in known:
                where = f"monitor_variables, {list(known)}; weaver hands no observers to a training"
                raise ValueError(f"mode: {what} = {name!r}: expected one of {where}")
            if config.preprocess_params.get(name, {}).get("center") is not None:
                raise ValueError(f"{what} = {name!r} is a scaled input: give a copy, of another name in new_variables")

    def __iter__(self) -> Iterator[Any]:
        for inputs, labels, monitored in self.loader:
            self.monitored = monitored
            yield inputs, labels, monitored

    def read(self, device: Any) -> list[Tensor | None]:
        """The masses and weights of the batch."""
        return [None if name is None else torch.as_tensor(self.monitored[name]).to(device) for name in self.names]


class Train:
    """weaver's ``train_classification`` with the layer or the loss, whose state lies beside weaver's checkpoints."""

    def __init__(self, mode: Any) -> None:
        self.mode = mode
        self.classes: MoDeOfClasses | None = None

    def __call__(self, *arguments: Any, **named: Any) -> None:
        model, loss_func, opt, scheduler, loader, dev, epoch = arguments
        args, batches = named["extra_args"]["args"], Batches(loader, self.mode)
        file = f"{args.model_prefix}_mode_epoch-"  # --auto-clean removes PREFIX_epoch-*.pt
        classes = self.classes or MoDeOfClasses(batches.classes, **batches.options)
        if self.classes is None:
            self.classes = classes
            _logger.info("%s, mass %s, weight %s", classes, *batches.names, color="bold")
            if args.load_epoch is not None and Path(before := f"{file}{args.load_epoch}.pt").exists():
                saved = torch.load(before, map_location="cpu")
                if saved.keys() != classes.state_dict().keys():
                    raise ValueError(f"{before} has the state of another method than {classes.method!r}: move the file")
                classes.load_state_dict(saved)
                _logger.info("MoDe goes on from %s", before)
            elif args.load_epoch is not None and classes.mode is not None:
                _logger.warning("MoDe begins a new push, since there is no file %s", before)
        classes.train()

        def loss(logits: Tensor, label: Tensor) -> Any:
            logits, added = classes(logits, label, *batches.read(logits.device))
            return loss_func(logits, label) + added

        if isinstance(loss_func, CrossEntropy):
            loss_func.hooked = True
        train_classification(model, loss, opt, scheduler, batches, dev, epoch, **named)
        classes.eval()
        if classes.mode is not None and args.model_prefix and not args.local_rank:
            Path(args.model_prefix).parent.mkdir(parents=True, exist_ok=True)
            torch.save(classes.state_dict(), f"{file}{epoch}.pt")
            if args.auto_clean:  # the last but one may still be the last that is complete
                Path(f"{file}{epoch - 2}.pt").unlink(missing_ok=True)


def evaluate(mode: Any, *arguments: Any, for_training: bool = True, **named: Any) -> Any:
    """weaver's ``evaluate_classification``, which in a validation logs the verdict and returns its rank."""
    if not for_training:
        return evaluate_classification(*arguments, for_training=False, **named)
    model, loader, dev, epoch = arguments
    batches, own = Batches(loader, mode), named.pop("loss_func", None)
    events: list[list[Tensor | None]] = []
    classes = MoDeOfClasses(batches.classes, **batches.options | {"method": "none"})

    def loss(logits: Tensor, label: Tensor) -> Tensor:  # of the events of all processes, as weaver gathers them
        read = [one if one is None else AllGather.apply(one) for one in batches.read(logits.device)]
        events.append([one if one is None else one.detach().cpu() for one in (logits.float(), label, *read)])
        return logits.new_zeros(()) if own is None else own(logits, label)

    accuracy = evaluate_classification(model, batches, dev, epoch, loss_func=loss, **named)
    check = classes.check(events)
    _logger.info("Epoch #%s: MoDe finds this validation %s", epoch, check.why, color="bold")
    if tensorboard := named.get("tb_helper"):
        numbers = {k: float(v) for k, v in check.to_dict().items() if isinstance(v, float | bool)}
        tensorboard.write_scalars([(f"MoDe/{k}", v, epoch) for k, v in numbers.items()])
    return check.rank + 1e-6 * accuracy  # weaver keeps the epoch with the largest number
