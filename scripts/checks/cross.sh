#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Functions of the scripts that compile for other systems, run in the root of the tree. `jobs` is the number of parallel jobs.

# make_googletest TOOLCHAIN PREFIX: builds Debian's sources of GoogleTest for another system and installs them in PREFIX.
make_googletest() {
  local folder="$2-googletest"
  if [ -e "$2/lib/libgtest.a" ]; then return; fi
  cmake -S /usr/src/googletest -B "$folder" -G Ninja --toolchain "$1" -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$2" \
    -D CMAKE_INSTALL_LIBDIR=lib >"$folder.log"
  cmake --build "$folder" --parallel "${jobs:?}" >>"$folder.log"
  cmake --install "$folder" >>"$folder.log"
}

# run_ctest PART REPORT ARGUMENT..: runs ctest with the arguments. The names of PART's results begin with the name of its REPORT.
run_ctest() {
  local part="$1" report="$2" status=0 results=scripts/checks/parts.py
  rm -f "$report"
  "$results" start "$part"
  ctest "${@:3}" -j "${jobs:?}" --output-junit "$report" || status=$?
  "$results" add "$part" --report "$report" --status "$status"
}
