"""What Keras and :mod:`libmode.compat.tf` need of TensorFlow, file by file as in libmode.jax."""
