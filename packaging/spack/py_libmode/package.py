# For spack/spack-packages. packaging/RELEASING.md says when the version and the hash are filled in.
# ruff: noqa: F403, F405  Spack's packages take their words from there.

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyLibmode(PythonPackage):
    """The MoDe loss (Moment Decomposition, arXiv:2010.09745): exact, fast control of a classifier's dependence on
    mass, for PyTorch, Keras, JAX, boosted trees, C, C++ and ROOT."""

    homepage = "https://github.com/libmode/libmode"
    url = "https://github.com/libmode/libmode/archive/refs/tags/v0.3.0.tar.gz"

    license("MIT")

    version("0.3.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("torch", default=False, description="Install PyTorch, for libmode.torch")

    depends_on("c", type="build")
    depends_on("go@1.24.0:", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-setuptools@77:", type="build")
    depends_on("py-numpy@1.24:", type=("build", "run"))
    depends_on("py-torch@2.4:", type=("build", "run"), when="+torch")

    import_modules = ["libmode", "libmode.metrics"]

    def setup_build_environment(self, env):
        # Go keeps its modules and its cache there, not in the user's home.
        env.set("GOPATH", join_path(self.stage.path, "go"))
        env.set("GOCACHE", join_path(self.stage.path, "go-cache"))
