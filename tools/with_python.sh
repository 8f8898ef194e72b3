#!/bin/sh
# Runs a script of the project with a Python that is new enough, before there is a .venv.
set -eu
python=$("$(dirname "$0")/prerequisites.sh" python)
exec "$python" "$@"
