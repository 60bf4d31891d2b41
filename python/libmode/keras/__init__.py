"""The losses for Keras 3, on TensorFlow, JAX or PyTorch, whichever is Keras's backend.

:class:`MoDeConstraint` goes to ``model.compile(loss=...)``, and the mass travels in ``y_true``::

    model.compile("adam", MoDeConstraint(order=1, mass_range=(50, 300)), metrics=[on_label("AUC")])
    model.fit(x, pack(label, mass))
"""

from .._messages import needed

with needed("keras", by="libmode.keras", extra="keras"):
    from .callback import MoDeCallback
    from .constraint import MoDeConstraint
    from .events import on_label, pack
    from .loss import MoDeLoss

__all__ = ["MoDeCallback", "MoDeConstraint", "MoDeLoss", "on_label", "pack"]
