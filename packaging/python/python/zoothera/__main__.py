"""Runs the engine: `python -m zoothera` speaks UCI, `python -m zoothera review game.pgn` runs a command."""

import os
import subprocess
import sys

from . import program


def main():
    try:
        command = [program(), *sys.argv[1:]]
    except FileNotFoundError as error:
        sys.exit(f"error: {error}")
    # Windows has no exec that keeps the console and the exit code.
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


main()
