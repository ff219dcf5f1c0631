#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Functions that make a bare Debian, for scripts that read this file with `source`. Need root and debootstrap.

# copy_in FILE: copies a file of this system into a folder of $root that no package uses, and prints the copy's name in $root.
copy_in() {
  local there
  there="/etc/fresh/$(basename "$1")"
  mkdir -p "$root/etc/fresh"
  cp -L "$1" "$root$there"
  echo "$there"
}

# adapt FILE PATTERN: the second group of PATTERN matches names of files, such as certificates, in the text of FILE. Copies each
# of these files in, and replaces its name in FILE by the copy's.
adapt() {
  local name
  while read -r name; do
    if [ -f "$name" ]; then sed -i "s|$name|$(copy_in "$name")|" "$1"; fi
  done < <(sed -nE "s/$2/\\2/p" "$1")
}

# make_bare RELEASE FOLDER [PACKAGE]..: makes a minimal Debian with the packages in the empty FOLDER, which becomes $root. Takes
# the mirror and the settings of this system's apt. Prints the mirror, or why there is no Debian.
make_bare() {
  local suite="$1" here sources mirror log packages
  root="$2"
  shift 2
  packages="$*"
  chmod 755 "$root" # apt fetches as a user of its own
  # A line "URI RELEASE COMPONENT" for every source of apt. A mirror has every release under the same URI.
  here="$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"
  # shellcheck disable=SC2016 # apt-get fills in the names
  sources="$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u |
    awk -v here="$here" -v suite="$suite" 'here { sub("^" here, suite, $2) } { print }')"
  mirror="$(awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }' <<<"$sources")"
  if [ -z "$mirror" ]; then
    echo "apt has no source for $suite main" >&2
    return 1
  fi
  log="$root.log"
  debootstrap --variant=minbase ${packages:+--include="${packages// /,}"} "$suite" "$root" "$mirror" >"$log" 2>&1 || {
    tail -n 20 "$log"
    echo "debootstrap failed" >&2
    return 1
  }
  rm -f "$log"
  awk -v suite="$suite" '$2 ~ "^" suite && $3 == "main" { print "deb", $1, $2, $3 }' <<<"$sources" >"$root/etc/apt/sources.list" || return 1
  apt-config dump | grep -E '^Acquire::(https?|ftp|Retries|Check-)' >"$root/etc/apt/apt.conf.d/90host" || true
  adapt "$root/etc/apt/apt.conf.d/90host" '^Acquire::https.*::(CaInfo|SslCert|SslKey) "(.*)";$' || return 1
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/" || return 1
  echo "a bare $suite from ${mirror%/}"
}
