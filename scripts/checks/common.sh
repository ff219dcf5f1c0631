#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Functions that scripts share. They run in the root of the tree, `tree`. Other variables: `part` names the part of the test run
# that gets results, `jobs` is the number of parallel jobs, `environment` the folder of a Python environment.
tree="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
results="$tree/scripts/checks/parts.py"
jobs="$(nproc)"
words=()

# read_options "NAME:KIND .. [words|any]" ARGUMENT..: reads the arguments of a script, whose function `usage` prints its help, and
# changes to the root of the tree. The option --some-name sets the variable some_name: to true (KIND flag), or to the value that
# follows (KIND number, at least 1; path, of a file or folder that exists; else a text). Everything after an option of KIND
# rest goes to the array `words`. Other arguments go there too with `any`, or with `words` if they do not begin with a dash;
# otherwise they are an error.
read_options() {
  local name="${0##*/}" known=" $1 " option value
  shift
  while [ $# -gt 0 ]; do
    option="${1#--}"
    if [ "$1" = -h ] || [ "$1" = --help ]; then
      usage
      exit 0
    elif [[ $1 != --* || $known != *" $option:"* ]]; then
      if [[ $known != *" any "* && ($known != *" words "* || $1 == -*) ]]; then
        echo "$name: unknown option $1" >&2
        usage >&2
        exit 2
      fi
      words+=("$1")
      shift
      continue
    fi
    value="${2-}"
    case "$known" in
      *" $option:rest "*)
        printf -v "$option" true
        words=("${@:2}")
        break
        ;;
      *" $option:flag "*) set -- "$1" "$@"; value=true ;;
      *" $option:number "*) [[ $value =~ ^[1-9][0-9]*$ ]] || { echo "$name: $1 takes a positive number" >&2; exit 2; } ;;
      *" $option:path "*) value="$(realpath -e -- "$value")" ;;
      *) [ -n "$value" ] || { echo "$name: $1 takes a value" >&2; exit 2; } ;;
    esac
    printf -v "${option//-/_}" %s "$value"
    shift 2
  done
  cd "$tree" || exit
}

# one NAME COMMAND..: runs a command as a check that counts as one test.
one() {
  local name="$1"
  shift
  if "$@"; then
    "$results" add "${part:?}" --passed 1
  else
    echo "FAILED $name: $*"
    "$results" add "${part:?}" --failed 1
  fi
}

# make_environment REQUIREMENTS [MESSAGE]: makes the environment from a file of requirements, after the message, unless it was
# already made from the same text.
make_environment() {
  if cmp --silent "$1" "${environment:?}/complete"; then return; fi
  [ -z "${2-}" ] || echo "$2"
  python3 -m venv --clear "$environment"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$1"
  cp "$1" "$environment/complete"
}

# cannot REASON: counts the part as skipped for this reason, and ends the script.
cannot() {
  "$results" add "${part:?}" --skipped 1 "$1"
  rm -rf "$environment"
  exec "$results" counts "${part:?}"
}

# make_torch_environment KILOBYTES REASON: makes the environment with the script's function `install`, unless it was made from
# what the script's function `recipe` prints now. Skips the part for REASON if the disk has fewer than KILOBYTES free.
make_torch_environment() {
  local log="$environment/install.log"
  if recipe | cmp --silent - "$environment/complete"; then return; fi
  mkdir -p build
  if [ "$(df --output=avail -k build | tail -n 1)" -lt "$1" ]; then cannot "$2"; fi
  python3 -m venv --clear "$environment"
  if ! install >"$log" 2>&1; then
    tail -n 20 "$log"
    if grep -qE 'NewConnectionError|ConnectTimeout|ReadTimeout|Read timed out|ConnectionResetError|ProxyError' "$log"; then
      cannot "torch cannot be fetched: there is no network"
    fi
    "$results" add "${part:?}" --failed 1
    exec "$results" counts "${part:?}"
  fi
  python3 scripts/checks/torch_without_cuda.py "$environment/bin/python"
  recipe >"$environment/complete"
}

# install_wheel PYTHON [WHEEL]: installs the wheel, or else a wheel that it builds from the tree.
install_wheel() {
  local wheel="${2-}"
  [ -n "$wheel" ] || wheel="$(scripts/checks/python_tests --wheel-only | tail -n 1)"
  "$1" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
}

# make_googletest TOOLCHAIN PREFIX: builds Debian's sources of GoogleTest for another system and installs them in PREFIX.
make_googletest() {
  local folder="$2-googletest"
  if [ -e "$2/lib/libgtest.a" ]; then return; fi
  cmake -S /usr/src/googletest -B "$folder" -G Ninja --toolchain "$1" -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$2" \
    -D CMAKE_INSTALL_LIBDIR=lib >"$folder.log"
  cmake --build "$folder" --parallel "${jobs:?}" >>"$folder.log"
  cmake --install "$folder" >>"$folder.log"
}

# run_pytest PYTHON NEEDED ARGUMENT..: runs tests with pytest, and adds the results and PYTHON's instruction set to the part. A test
# that is skipped for lack of one of the modules NEEDED ("NAME|NAME") counts as failed.
run_pytest() {
  local report status=0
  report="$(mktemp)"
  "$1" -m pytest -q -p no:cacheprovider --junitxml "$report" "${@:3}" || status=$?
  "$results" add "${part:?}" --report "$report" --needed "$2" --status "$status" \
    --sets "$("$1" -c 'import patchfold; print(patchfold.instruction_sets()[0])')"
  rm "$report"
}

# run_ctest REPORT ARGUMENT..: runs ctest with the arguments, and adds its REPORT to the part.
run_ctest() {
  local report="$1" status=0
  rm -f "$report"
  "$results" start "$part"
  ctest "${@:2}" -j "${jobs:?}" --output-junit "$report" || status=$?
  "$results" add "${part:?}" --report "$report" --status "$status"
}
