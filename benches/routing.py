#!/usr/bin/env python3
"""What it costs to send each row to the component of its schema version, beside what the decoding costs.

  routing.py --host BINARY --plugins DIR --work DIR [--rows N] [--runs N]

JSON of 300 bytes in a Delta table, decoded by streams that keep no row, so that little else is measured. Processor seconds of
the whole process, median of the runs: decoding is what a stream with a decoder takes more than one without; routing is what
one with `version` takes more than one without. Must: at most 20 % of the decoding; nothing where one component serves all
versions. At the end: rows of five versions in each batch, which five components decode, beside one that decodes them all.
"""
import argparse
import json
import os
import random
import shutil
import subprocess

parser = argparse.ArgumentParser()
for name in ("host", "plugins", "work"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--rows", type=int, default=1_000_000)
parser.add_argument("--runs", type=int, default=5)
args = parser.parse_args()

BYTES = 300
VERSIONS = 5
VERSION = {"json": "schema_version", "in": "payload"}
COLUMNS = [{"name": "order_id", "type": "string"}, {"name": "event_ts", "type": "timestamp"},
           {"name": "amount", "type": "decimal(18,2)"}, {"name": "schema_version", "type": "int"},
           {"name": "customer_id", "type": "string"}, {"name": "country", "type": "string"},
           {"name": "currency", "type": "string"}]


def message(rng: random.Random, number: int, version_first: bool, versions: int) -> str:
    """The version at one end of the text: with the last field, all of it is looked through."""
    version = {"schema_version": 1 + number % versions}
    order = {"order_id": f"o-{number:09}", "event_ts": f"2026-03-{1 + number % 28:02}T10:00:00.000Z",
             "amount": rng.randrange(1, 500_000) / 100, "customer_id": f"c-{number % 50_000:05}", "country": "ES",
             "currency": "EUR", "note": ""}
    order = {**version, **order} if version_first else {**order, **version}
    order["note"] = "n" * (BYTES - len(json.dumps(order, separators=(",", ":"))))
    return json.dumps(order, separators=(",", ":"))


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def run(project: str, plugins: str = args.plugins) -> float:
    """Processor seconds of a run from nothing."""
    shutil.rmtree(os.path.join(project, "data"), ignore_errors=True)
    process = subprocess.Popen([args.host, "run", "-q", "--project", project, "--plugins", plugins],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"routing: the run of {project} failed")
    return usage.ru_utime + usage.ru_stime


def settings(project: str) -> None:
    write(os.path.join(project, "crisol.toml"), '[path]\ncheckpoint = "data/checkpoints"\ntables = "data/tables"\n')


def bronze(name: str, version_first: bool, versions: int = 2) -> str:
    """A table with the messages, by the host itself; gives its path."""
    project = os.path.join(args.work, name)
    shutil.rmtree(project, ignore_errors=True)
    settings(project)
    rng = random.Random(17)
    landing = os.path.join(project, "landing")
    write(os.path.join(landing, "orders.txt"),
          "".join(message(rng, number, version_first, versions) + "\n" for number in range(args.rows)))
    write(os.path.join(project, "tables/bronze/lines.json"), json.dumps({"name": "bronze.lines"}))
    write(os.path.join(project, "ingestion/streaming/lines.json"), json.dumps({
        "name": "lines", "ingest_type": "streaming", "source": {"format": "text", "path": landing},
        "destination_contract": "../../tables/bronze/lines.json"}))
    run(project)
    return os.path.join(project, "data/tables/bronze/lines")


def stream(table: str, decoder: str | None, version: bool) -> str:
    """A project with one stream, which reads all rows and keeps none; gives its folder."""
    project = os.path.join(args.work, f"{decoder or 'nothing'}-{'routed' if version else 'straight'}")
    shutil.rmtree(project, ignore_errors=True)
    settings(project)
    column = "order_id" if decoder else "payload"
    contract = {"name": "silver.orders", "from": {"delta": table},
                "expectations": [{"name": "none", "condition": f"{column} = ''", "on_violation": "drop"}]}
    if decoder:
        contract["stages"] = [{"decode": decoder, **({"version": VERSION} if version else {})}]
        contract["columns"] = COLUMNS
    write(os.path.join(project, "tables/silver/orders.json"), json.dumps(contract))
    return project


def measure(where: str, table: str) -> None:
    kinds = {"none": (None, False), "orders": ("orders", False), "orders routed": ("orders", True),
             "json": ("json", False), "json routed": ("json", True)}
    projects = {kind: stream(table, *how) for kind, how in kinds.items()}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(args.runs):
        for kind, project in projects.items():
            seconds[kind].append(run(project))
    median = {kind: sorted(of)[len(of) // 2] for kind, of in seconds.items()}
    for decoder, what in (("orders", "versions 1..2"), ("json", "all versions")):
        decode = median[decoder] - median["none"]
        routing = median[f"{decoder} routed"] - median[decoder]
        print(f"routing host  {100 * routing / decode:5.1f} % of the decode by `{decoder}`, which serves {what}; version "
              f"{where} of {BYTES} bytes ({routing * 1e9 / args.rows:.0f} ns a row, decode {decode * 1e9 / args.rows:.0f} ns)",
              flush=True)


def five_versions() -> str:
    """A folder with five builds of `json`, which differ in what they say of themselves: each serves one version."""
    folder = os.path.join(args.work, "five")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(args.plugins, "json.wasm"), "rb") as file:
        wasm = file.read()
    for version in range(1, VERSIONS + 1):
        words = f"json0.1.{version}00{version}".encode()
        if wasm.count(b"json0.1.0all") != 1:
            raise SystemExit("routing: `json.wasm` does not have its version in one place")
        with open(os.path.join(folder, f"json-{version}.wasm"), "wb") as file:
            file.write(wasm.replace(b"json0.1.0all", words))
    return folder


def measure_versions() -> None:
    table, five = bronze("versions", True, VERSIONS), five_versions()
    kinds = {"none": (stream(table, None, False), args.plugins), "one": (stream(table, "json", False), args.plugins),
             "five": (stream(table, "json", True), five)}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for project, plugins in kinds.values():
        run(project, plugins)  # The components are compiled.
    for _ in range(args.runs):
        for kind, (project, plugins) in kinds.items():
            seconds[kind].append(run(project, plugins))
    median = {kind: sorted(of)[len(of) // 2] for kind, of in seconds.items()}
    one, five = (median[kind] - median["none"] for kind in ("one", "five"))
    print(f"routing host  {VERSIONS} versions in a batch take {five / one:.2f} x of one ({five * 1e9 / args.rows:.0f} ns a row by "
          f"{VERSIONS} components, {one * 1e9 / args.rows:.0f} ns by one)", flush=True)


for place, first in (("at the start", True), ("at the end", False)):
    measure(place, bronze("bronze", first))
measure_versions()
