#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the subjects of the commits since the last release: `area: what it does`, imperative, at most 72 characters, no `;`.

usage: check_commits.py [--root FOLDER]

Without a release, checks the commits since BASE. Merges are left out. Passes if there is no git, or if a shallow clone lacks
the commits.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

BASE = "33b26486da121f590ff17898766d226c67acda9d"
LONGEST = 72
# Words that no command begins with: they begin a noun phrase or a sentence.
NO_VERBS = set("""a an the this that these those some any all each every no not both one two three four five six several many much
more most fewer less other another same equal new old short long large small big fast slow our its their his it they we you i what
which who how why when where whether if of for from in on at by to with without as and or but""".split())
# Verbs that end like another form of a verb (-ed, -ing) or like a plural.
VERBS = set("bring embed exceed feed focus need seed sing speed string swing bias alias canvas".split())


def faults_of(subject):
    """Returns the faults of a commit's subject line, as sentences without their first word, such as "has a semicolon"."""
    faults = []
    if len(subject) > LONGEST:
        faults.append(f"has {len(subject)} characters, at most {LONGEST} are allowed")
    if ";" in subject:
        faults.append("has a semicolon: a commit does one thing")
    match = re.match(r"[a-z][\w./+-]*: ([^\s,:]+)", subject)
    if not match:
        faults.append("must read `area: what it does`")
        return faults
    word = match[1]
    inflected = word.endswith(("ed", "ing", "'s")) or (word.endswith("s") and not word.endswith("ss"))
    if word not in VERBS and (inflected or word in NO_VERBS or not re.fullmatch(r"[a-z][a-z-]*", word)):
        faults.append(f"must begin with a command, not with {word}")
    return faults


def git(root, *arguments):
    """Returns what git prints, or None if git fails or is not installed."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    root = parser.parse_args().root.resolve()
    top = git(root, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != root:
        print("commits: not a checkout of git, nothing to check")
        return 0
    since = git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*") or BASE
    log = git(root, "log", "--no-merges", "--format=%h %s", f"{since}..HEAD")
    if log is None:
        print(f"commits: this clone lacks {since}, nothing to check")
        return 0
    commits = [line.partition(" ")[::2] for line in log.splitlines()]
    faults = [f"FAILED {commit} {subject}: {fault}" for commit, subject in commits for fault in faults_of(subject)]
    print("\n".join([*faults, f"commits: {len(commits)} since {since}, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
