"""Every packet script that the RTL takes, in lockstep on the whole NIC of the default target: a part of `make long`."""

import subprocess
import sys

from jobs import all_scripts
from project import ROOT


def main() -> None:
    scripts = all_scripts()
    files = [*scripts.rest, *(path for path in scripts.rules if path not in scripts.slow)]
    names = [str(path.relative_to(ROOT)) for path in files]
    command = ["cargo", "run", "--quiet", "-p", "sluice-cli", "--", "script", *names, "--device", "both"]
    sys.exit(subprocess.run(command, cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
