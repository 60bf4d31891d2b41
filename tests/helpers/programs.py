"""Programs in processes of their own."""

import os
import shlex
import subprocess


def run(*command, cwd=None, env=None, stderr=subprocess.PIPE, timeout=1200, **environment):
    """What a command prints in so many seconds, with these variables of the environment changed, or with those of env alone."""
    # Programs run as those of users, without the interpreter of the tests.
    own = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment = (own if env is None else env) | environment
    given = {"cwd": cwd, "env": environment, "stdout": subprocess.PIPE, "stderr": stderr}
    done = subprocess.run(list(map(str, command)), **given, text=True, timeout=timeout)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
