#!/usr/bin/env python3
"""The host beside Spark on the same machine, in the same run, on the same data with the same limits.

  bench.py --host BINARY --plugins DIR --broker HOST:PORT --orders FILE --music FILE --jars GLOB --work DIR [--only host]

Prints a line per measurement and the ratios. Absolute times differ between machines and runs; only ratios count.
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)

parser = argparse.ArgumentParser()
for name in ("host", "plugins", "broker", "orders", "music", "jars", "work"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--topic", default="orders.v1")
parser.add_argument("--runs", type=int, default=3)
parser.add_argument("--only", choices=["host", "spark"])
args = parser.parse_args()


def lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def host(example: str, last_table: str, settings: dict[str, str], environment: dict[str, str]) -> dict:
    """One run of the host from nothing: seconds, peak RSS, seconds to the first commit of the last table."""
    data = os.path.join(args.work, example)
    shutil.rmtree(data, ignore_errors=True)
    command = [args.host, "run", "--project", os.path.join(root, "examples", example), "--plugins", args.plugins,
               "-o", "json", "--set", f"path.tables={data}/tables", "--set", f"path.checkpoint={data}/checkpoints"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    first = os.path.join(data, "tables", last_table, "_delta_log", f"{1:020}.json")
    seen: list[float] = []
    started = time.time()
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)

    def watch() -> None:
        while process.poll() is None:
            if os.path.exists(first):
                seen.append(time.time() - started)
                return
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    peak = [0]

    def memory() -> None:
        while process.poll() is None:
            try:
                for line in open(f"/proc/{process.pid}/status"):
                    if line.startswith("VmHWM"):
                        peak[0] = max(peak[0], int(line.split()[1]) // 1024)
            except OSError:
                return
            time.sleep(0.02)

    sampler = threading.Thread(target=memory)
    sampler.start()
    out = process.communicate()[0]
    seconds = time.time() - started
    watcher.join()
    sampler.join()
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed:\n{out}")
    accounts = json.loads(next(line for line in out.splitlines() if "crisol.accounts" in line))
    rows = {stream["table"]: stream["accounts"]["rows_written"] for stream in accounts["streams"]}
    return {"engine": "host", "rows": rows, "seconds": round(seconds, 2), "rss_peak_mib": peak[0],
            "first_commit_seconds": round(seen[0], 2) if seen else None}


def spark(script: str, *arguments: str) -> dict:
    out = subprocess.run([sys.executable, os.path.join(here, script), *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def compare(job: str, rows: int, run_host, run_spark, spark_seconds) -> None:
    hosts, sparks = [], []
    for _ in range(args.runs):
        if args.only != "spark":
            hosts.append(run_host())
            print(f"{job:7} host  {json.dumps(hosts[-1])}", flush=True)
        if args.only != "host" and not sparks:
            sparks.append(run_spark())
            print(f"{job:7} spark {json.dumps(sparks[-1])}", flush=True)
    if hosts:
        seconds = median([run["seconds"] for run in hosts])
        print(f"{job:7} host  {rows / seconds:,.0f} rows/s (median of {len(hosts)} runs, start included)")
    if hosts and sparks:
        theirs = spark_seconds(sparks[-1]["seconds"])
        print(f"{job:7} ratio {theirs / seconds:.1f} x Spark ({theirs:.1f} s against {seconds:.1f} s)")


def commit_cost(versions: tuple[int, int]) -> None:
    """Milliseconds from the logged outcome of a batch to its mark, between which lies one append commit (R-034).

    Each batch is one file of one line. The median of the ten batches before each version.
    """
    project, data = os.path.join(args.work, "commits"), os.path.join(args.work, "commits-data")
    landing = os.path.join(project, "landing")
    for folder in ("ingestion/streaming", "tables/bronze", "landing"):
        os.makedirs(os.path.join(project, folder))
    contracts = {
        "crisol.toml": "",
        "tables/bronze/lines.json": json.dumps({"name": "bronze.lines"}),
        "ingestion/streaming/lines.json": json.dumps({
            "name": "lines", "ingest_type": "streaming", "source": {"format": "text", "path": landing},
            "options": {"maxFilesPerTrigger": 1}, "destination_contract": "../../tables/bronze/lines.json"}),
    }
    for name, text in contracts.items():
        with open(os.path.join(project, name), "w") as file:
            file.write(text)
    made = 0
    for version in versions:
        for made in range(made, version):
            with open(os.path.join(landing, f"{made:06}.txt"), "w") as file:
                file.write(f"line {made}\n")
        made = version
        subprocess.run([args.host, "run", "-q", "--project", project, "--plugins", args.plugins,
                        "--set", f"path.tables={data}/tables", "--set", f"path.checkpoint={data}/checkpoints"],
                       stdout=subprocess.DEVNULL, check=True)
        checkpoint = os.path.join(data, "checkpoints", "streaming", "lines")
        written = [[os.stat(os.path.join(checkpoint, kind, str(batch))).st_mtime_ns for kind in ("outcome", "commits")]
                   for batch in range(version - 10, version)]
        costs = [(after - before) / 1e6 for before, after in written]
        print(f"commit  host  {median(costs):.1f} ms for an append at {version:,} versions "
              f"(median of 10, {min(costs):.1f} to {max(costs):.1f})", flush=True)


cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
print(f"machine: {os.cpu_count()} cores, {cpu}, {platform.system()} {platform.release()}")
orders, music = lines(args.orders), lines(args.music)
print(f"orders: {orders:,} messages from Kafka to bronze, silver with quarantine, the newest of each order, and gold, at "
      "most 500,000 a batch")
compare(
    "orders", orders,
    lambda: host("orders", "gold/top_orders", {}, {"KAFKA_BROKERS": args.broker}),
    lambda: spark("spark_orders.py", "--bootstrap", args.broker, "--topic", args.topic, "--jars", args.jars, "--out",
                  os.path.join(args.work, "spark-orders")),
    lambda seconds: sum(seconds[hop] for hop in ("bronze", "silver", "current", "gold")),
)
landing = os.path.join(args.work, "landing")
shutil.rmtree(landing, ignore_errors=True)
os.makedirs(landing)
os.link(args.music, os.path.join(landing, "plays.json"))
print(f"music: {music:,} JSON lines to bronze, to silver partitioned by country and day, and to the top of each")
compare(
    "music", music,
    lambda: host("music", "gold/top3_songs", {"path.landing": landing}, {}),
    lambda: spark("spark_music.py", landing, os.path.join(args.work, "spark-music")),
    lambda seconds: seconds["total"] - seconds["session"],
)
if args.only != "spark":
    commit_cost((10, 1000))
