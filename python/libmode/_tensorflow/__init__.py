"""TensorFlow for Keras, with the same files as libmode.jax."""
