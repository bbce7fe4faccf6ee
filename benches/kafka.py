#!/usr/bin/env python3
"""Kafka to bronze beside a bare `BaseConsumer::poll` loop on the same topic in the same run; planning of many partitions.

  kafka.py --host BINARY --poll BINARY --broker HOST:PORT --topic NAME --messages N [--wide TOPIC] --work DIR

The topic holds N messages. `--wide` is a topic of many partitions, read whole in one batch. Only ratios count.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time

parser = argparse.ArgumentParser()
for name in ("host", "poll", "broker", "topic", "work"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--messages", type=int, required=True)
parser.add_argument("--wide")
parser.add_argument("--runs", type=int, default=3)
args = parser.parse_args()


def project(topic: str) -> str:
    folder = os.path.join(args.work, topic)
    shutil.rmtree(folder, ignore_errors=True)
    contracts = {
        "crisol.toml": '[path]\ncheckpoint = "checkpoints"\ntables = "data"\n'
                       f'[kafka]\n"bootstrap.servers" = "{args.broker}"\n',
        "tables/raw.json": json.dumps({"name": "bronze.raw"}),
        "ingestion/raw.json": json.dumps({
            "name": "raw", "ingest_type": "streaming", "destination_contract": "../tables/raw.json",
            "source": {"format": "kafka", "kafka": {"topic": topic, "starting_offsets": "earliest"}}}),
    }
    for name, text in contracts.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    return folder


def host(topic: str) -> dict:
    command = [args.host, "run", "-o", "json", "--project", project(topic)]
    started, peak = time.time(), [0]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

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
    sampler.join()
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed:\n{out}")
    lines = [json.loads(line) for line in out.splitlines()]
    batches = [line for line in lines if "batchId" in line]
    rows = sum(batch["numInputRows"] for batch in batches)
    return {"rows": rows, "seconds": round(seconds, 3), "rss_peak_mib": peak[0], "batches": len(batches)}


def bare() -> dict:
    out = subprocess.run([args.poll, args.broker, args.topic], stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(out)


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


ours, theirs = [], []
for _ in range(args.runs):
    theirs.append(bare())
    print(f"kafka   poll  {json.dumps(theirs[-1])}", flush=True)
    ours.append(host(args.topic))
    print(f"kafka   host  {json.dumps(ours[-1])}", flush=True)
    if ours[-1]["rows"] != args.messages or theirs[-1]["messages"] != args.messages:
        sys.exit(f"bench: {args.messages} messages were written")
poll, bronze = (median([args.messages / run["seconds"] for run in runs]) for runs in (theirs, ours))
print(f"kafka   poll  {poll:,.0f} messages/s (median of {args.runs} runs)")
print(f"kafka   host  {bronze:,.0f} rows/s to bronze, start included; peak RSS {max(run['rss_peak_mib'] for run in ours)} MiB "
      f"with {args.messages:,} messages and no limit")
print(f"kafka   ratio {bronze / poll:.2f} of a bare poll loop")
if args.wide:
    run = host(args.wide)
    print(f"kafka   wide  {json.dumps(run)} from start to commit, all partitions planned and read")
