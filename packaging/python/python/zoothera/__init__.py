"""The UCI chess engine Zoothera: `program()` is the path of its executable, for `chess.engine` and `subprocess`."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

__all__ = ["program"]


def _folders():
    """Folders into which pip installs programs: of this environment, of the user, and beside `pip install --target`."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", scheme="nt_user" if os.name == "nt" else "posix_user")
    yield Path(__file__).resolve().parent.parent / "bin"


def program() -> str:
    """The path of the executable. Raises FileNotFoundError if the package has none."""
    name = "zoothera" + (sysconfig.get_config_var("EXE") or "")
    for folder in _folders():
        path = Path(folder) / name
        if path.is_file():
            return str(path)
    found = shutil.which("zoothera")
    if found:
        return found
    raise FileNotFoundError(f"no program {name} beside {sys.executable}: install the wheel again (pip install --force-reinstall zoothera)")
