#!/usr/bin/env python3
"""Throughput of a host while a component is exchanged, beside a run of the same messages without an exchange.

  swap.py --host BINARY --plugins DIR --broker HOST:PORT --work DIR [--topic T] [--exchanges N]

The example `orders` as far as silver, from Kafka. In the second run another build of the decoder is put in place several times,
each never seen before, so that it is compiled, checked and tried beside the streams. A window goes from the putting to the
exchange, one second at least. The first run's time for the rows of the windows, divided by the second run's: must be at
least 70 %.
"""
import argparse
import json
import os
import shutil
import subprocess
import time

here = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser()
for name in ("host", "plugins", "broker", "work"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--topic", default="orders.v1")
parser.add_argument("--exchanges", type=int, default=2)
args = parser.parse_args()

OFFSETS_MAX = 20_000
WINDOW_S_MIN = 1.0


class Curve:
    """Rows of silver that were committed by a time, and the time by which so many were."""

    def __init__(self, start: float):
        self.points = [(start, 0)]

    def add(self, at: float, rows: int) -> None:
        self.points.append((at, self.points[-1][1] + rows))

    def rows(self, at: float) -> float:
        return self._between(0, at)

    def time(self, rows: float) -> float:
        return self._between(1, rows)

    def _between(self, of: int, value: float) -> float:
        for before, after in zip(self.points, self.points[1:]):
            if before[of] <= value <= after[of] and after[of] > before[of]:
                share = (value - before[of]) / (after[of] - before[of])
                return before[1 - of] + share * (after[1 - of] - before[1 - of])
        return self.points[-1][1 - of]


def project() -> str:
    folder = os.path.join(args.work, "swap")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(here, "../examples/orders"), folder, ignore=shutil.ignore_patterns("data", "gold"))
    os.remove(os.path.join(folder, "tables/silver/orders_current.json"))
    path = os.path.join(folder, "ingestion/streaming/orders.json")
    with open(path) as file:
        contract = json.load(file)
    contract["source"]["kafka"].update(topic=args.topic, max_offsets_per_trigger=OFFSETS_MAX)
    with open(path, "w") as file:
        json.dump(contract, file)
    shutil.copytree(args.plugins, os.path.join(folder, "plugins"), ignore=lambda _, names: [
        name for name in names if not name.endswith(".wasm")])
    return folder


def put_build(folder: str) -> None:
    """The same decoder with bytes that never were before: a section that nobody reads."""
    with open(os.path.join(args.plugins, "orders.wasm"), "rb") as file:
        component = file.read()
    path = os.path.join(folder, "plugins", "orders.wasm")
    with open(path + ".new", "wb") as file:
        file.write(component + bytes([0, 18, 1, ord("m")]) + os.urandom(16))
    os.rename(path + ".new", path)


def run(exchange_at: list[float]) -> tuple[Curve, list[tuple[float, float]]]:
    """Reads the topic from its beginning; puts another build each time so many rows are in silver. Gives the windows."""
    folder = project()
    environment = {**os.environ, "KAFKA_BROKERS": args.broker, "XDG_CACHE_HOME": os.path.join(args.work, "cache")}
    curve, windows, put = Curve(time.time()), [], None
    process = subprocess.Popen([args.host, "run", "-o", "json", "--project", folder], env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in process.stdout:
        now, told = time.time(), json.loads(line)
        if told.get("name") == "silver.orders":
            curve.add(now, told["numInputRows"])
        if told.get("schema") == "crisol.swapped/v1":
            windows.append((put, max(now, put + WINDOW_S_MIN)))
            put = None
        done = len(windows)
        if put is None and done < len(exchange_at) and curve.points[-1][1] >= exchange_at[done]:
            put_build(folder)
            put = now
    if process.wait() != 0:
        raise SystemExit("swap: the run failed")
    return curve, [(begin, end) for begin, end in windows if end <= curve.points[-1][0]]


plain, _ = run([])
total = plain.points[-1][1]
swapped, windows = run([total * (n + 1) / (args.exchanges + 2) for n in range(args.exchanges)])
if not windows:
    raise SystemExit("swap: no component was exchanged while rows were left; more messages are needed")
theirs = sum(plain.time(swapped.rows(end)) - plain.time(swapped.rows(begin)) for begin, end in windows)
ours = sum(end - begin for begin, end in windows)
rows = sum(swapped.rows(end) - swapped.rows(begin) for begin, end in windows)
print(f"swap    host  {100 * theirs / ours:.0f} % of the throughput without an exchange, in {len(windows)} windows of {ours:.1f} s "
      f"in all ({rows / ours:,.0f} rows/s against {rows / theirs:,.0f})")
