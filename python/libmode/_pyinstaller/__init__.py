"""Where PyInstaller finds the hook of libmode."""

from pathlib import Path


def hook_dirs() -> list[str]:
    """The folder of the hook, for the entry point ``pyinstaller40``."""
    return [str(Path(__file__).parent)]
