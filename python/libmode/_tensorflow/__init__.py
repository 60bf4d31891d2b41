"""TensorFlow for Keras and :mod:`libmode.compat.tf`, with the same files as libmode.jax."""
