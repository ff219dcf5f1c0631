# SPDX-License-Identifier: Apache-2.0
"""The record of mutate: the last result of each bug, and its commit."""
import collections
import subprocess

from mutations import ROOT

RECORD = ROOT / "build" / "mutations_record.txt"
SURVIVED = "SURVIVED"


def git(*arguments):
    """Returns (whether git exits with 0, output)."""
    done = subprocess.run(["git", "-C", ROOT, *arguments], check=False, stdout=subprocess.PIPE, text=True)
    return done.returncode == 0, done.stdout.strip()


def commit():
    changed = git("status", "--porcelain")[1]
    return git("describe", "--always", "--abbrev=10", "--exclude=*")[1] + ("+" if changed else "")


def read_record():
    record = {}
    for line in RECORD.read_text().splitlines() if RECORD.is_file() else ():
        if line and not line.startswith("#"):
            name, digest, at, killers = (part.strip() for part in line.split("|", 3))
            record[name] = (digest, at, killers)
    return record


def write_record(record, mutations):
    lines = ["# What became of each bug of mutations.txt when scripts/checks/mutate last tried it: bug | digest | commit |\n"
             "# killers.\n"]
    lines += [" | ".join([each.name, *record[each.name]]) + "\n" for each in mutations if each.name in record]
    RECORD.with_suffix(".new").write_text("".join(lines))
    RECORD.with_suffix(".new").replace(RECORD)


def is_done(mutation, record, since):
    digest, at, killers = record.get(mutation.name, ("", "", SURVIVED))
    if digest != mutation.digest() or killers == SURVIVED or at.endswith("+"):
        return False
    return not since or git("merge-base", "--is-ancestor", since, at)[0]


def print_shares(results):
    """Prints how many bugs of this run each part killed, and how many of each folder of sources were killed."""
    count = len(results)
    by_part = collections.Counter(killer.split(":")[0] for _, killers in results for killer in killers)
    for name, killed in by_part.most_common():
        print(f"mutate: {name} killed {killed} of {count} ({100 * killed / count:.0f} %)")
    folders = collections.defaultdict(list)
    for mutation, killers in results:
        depth = 2 if mutation.file.startswith(("src/", "python/")) else 1
        folders["/".join(mutation.file.split("/")[:depth])].append(bool(killers))
    for folder, killed in sorted(folders.items()):
        print(f"mutate: bugs in {folder}: {sum(killed)} of {len(killed)} killed")
