#!/usr/bin/env bash
# Installs the real Basic Memory server below .root beside this file: some 30 s and 290 MB, nothing outside that folder.
#
#   .root/bin/basic-memory              the command
#   .root/bin/bm-isolated DATA [...]    the server over stdio, with everything it reads and writes below DATA
#
# Exit 3: no Python >= 3.12 here. That is no fault, the callers then do without the real server.
# PYTHON=/path/to/python is tried before all others.
set -euo pipefail

version=0.24.1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/.root

# Runs each candidate rather than looking at its name: a pyenv shim is on PATH also for versions that are switched off.
python=
for candidate in "${PYTHON:-}" python3.12 python3.13 python3.14 python3 \
  "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3 /usr/local/bin/python3.1[2-9] /usr/bin/python3.1[2-9]; do
  if [ -n "$candidate" ] &&
    "$candidate" -c 'import sys, ssl, sqlite3, venv, ensurepip; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "Basic Memory needs Python >= 3.12 (with ssl, sqlite3 and venv), and none was found on PATH, in pyenv or in /usr/local." >&2
  exit 3
fi

rm -rf "$root"
"$python" -m venv "$root/venv"
pip=("$root/venv/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check)
"${pip[@]}" --constraint "$here/constraints.txt" --requirement "$here/requirements.txt"
"${pip[@]}" --no-deps "basic-memory==$version"

mkdir -p "$root/bin"
ln -s ../venv/bin/basic-memory "$root/bin/basic-memory"
cat > "$root/bin/bm-isolated" <<'STARTER'
#!/bin/sh
# bm-isolated DATA [options of `basic-memory mcp`]
set -eu
data=$1
shift
mkdir -p "$data/home" "$data/config" "$data/notes"
export HOME="$data/home" BASIC_MEMORY_HOME="$data/notes" BASIC_MEMORY_CONFIG_DIR="$data/config"
# Keyword search, no update check, no banner, and no model hub: the server then needs no network at all.
export BASIC_MEMORY_DEFAULT_SEARCH_TYPE=text BASIC_MEMORY_AUTO_UPDATE=false BASIC_MEMORY_NO_PROMOS=1 HF_HUB_OFFLINE=1
export FASTMCP_CHECK_FOR_UPDATES=off FASTMCP_SHOW_SERVER_BANNER=false
exec "$(dirname "$0")/basic-memory" mcp "$@"
STARTER
chmod +x "$root/bin/bm-isolated"

# Also compiles the modules, which would otherwise make the first start twice as long.
"$root/bin/basic-memory" --version | grep -q "version: $version\$" || {
  echo "the installed Basic Memory does not answer with version $version" >&2
  exit 1
}
