"""Gives files that are as they were in the last run the times that they had then.

Cargo compiles anew what is newer than its product, and in a clone all files are new. A file counts as unchanged when its content and
the folder of the clone are the same. RECORD lies beside the products, which nothing else than the gate may have made.

    times.py RECORD
"""

import json
import os
import re
import subprocess
import sys

# What takes in whole folders: a file that is new there is seen by nobody else.
FOLDERS = re.compile(rb"#\[folder|generate!|bindgen!")


def contents() -> dict[str, str]:
    """The hash of each tracked file, as it is in the folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    paths = [path for path in listed.split("\0") if os.path.isfile(path) and not os.path.islink(path)]
    hashed = subprocess.run(
        ["git", "hash-object", "--no-filters", "--stdin-paths"],
        check=True, capture_output=True, text=True, input="\n".join(paths) + "\n",
    )
    return dict(zip(paths, hashed.stdout.split(), strict=True))


def last(record: str) -> dict[str, list]:
    """Hash and time of each file in the last run, if that was in this folder."""
    try:
        with open(record, encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known["files"] if known.get("root") == os.getcwd() else {}


def takes_folders(path: str) -> bool:
    with open(path, "rb") as file:
        return path.endswith(".rs") and FOLDERS.search(file.read()) is not None


def main(record: str) -> None:
    before, now, files, same = last(record), contents(), {}, 0
    moved = before.keys() != now.keys()
    for path, content in now.items():
        known_content, known_time = before.get(path, (None, 0))
        if content == known_content and not (moved and takes_folders(path)):
            os.utime(path, ns=(known_time, known_time))
            same += 1
        files[path] = [content, os.stat(path).st_mtime_ns]
    os.makedirs(os.path.dirname(record), exist_ok=True)
    # Before anything is compiled: products are newer than all of these.
    with open(record + ".new", "w", encoding="utf-8") as file:
        json.dump({"root": os.getcwd(), "files": files}, file)
    os.replace(record + ".new", record)
    print(f"{same} of {len(files)} files are as they were in the last run")


main(sys.argv[1])
