#!/usr/bin/env python3
"""What the tables of an example must hold, computed from its input in plain Python, compared row by row.

  expected.py orders INPUT.tsv TABLES [SCHEMA_VERSION ...]     those served, by default 1 and 2
  expected.py music  INPUT.json TABLES

Exits with 1 and says what differs. Knows nothing of the host: the input is parsed here, the tables are read by
delta_log.py.
"""
import json
import sys
from collections import Counter
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

import delta_log

SILVER = ["order_id", "event_ts", "amount", "schema_version", "customer_id", "country", "currency", "day"]


def order(value: str, served: set[int]):
    """The silver row of a message, or the code for which it is refused."""
    try:
        event = json.loads(value, parse_float=Decimal)
    except ValueError:
        return "corrupt_record"
    try:
        at = datetime.strptime(event["event_ts"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return "corrupt_record"
    amount = event["amount"]
    if not isinstance(amount, (Decimal, int)):
        return "corrupt_record"
    if event["schema_version"] not in served:
        return "unsupported_schema_version"
    if event["order_id"] is None:
        return "not_null: order_id"
    try:
        amount = Decimal(amount).quantize(Decimal("0.01"))
    except InvalidOperation:
        return "corrupt_record"
    return (event["order_id"], at, amount, event["schema_version"], event.get("customer_id"), event.get("country"),
            event.get("currency"), at.date())


def orders(source: str, tables: str, *versions: str) -> list[str]:
    served = set(map(int, versions)) or {1, 2}
    values = [line.rstrip("\n").split("\t", 1) for line in open(source, encoding="utf-8")]
    silver, refused, silver_rows = Counter(), Counter(), []
    for _, value in values:
        row = order(value, served)
        if isinstance(row, str):
            refused[(row, value)] += 1
        else:
            silver[row] += 1
            silver_rows.append(row)
    bronze = Counter(map(tuple, values))
    table = delta_log.Table(f"{tables}/silver/orders")
    found = Counter(table.rows(SILVER))
    quarantine = delta_log.Table(f"{tables}/silver/orders_quarantine")
    found_refused = Counter((code, payload.decode()) for code, payload in quarantine.rows(["code", "payload"]))
    raw = delta_log.Table(f"{tables}/bronze/orders_raw")
    found_bronze = Counter(raw.rows(["message_key", "payload"]))
    problems = current_and_gold(silver_rows, tables)
    for name, expected, got in (("bronze", bronze, found_bronze), ("silver", silver, found),
                                ("quarantine", refused, found_refused)):
        problems += differences(name, expected, got)
    problems += provenance("bronze", raw)
    problems += provenance("silver and quarantine", table, quarantine)
    print(f"orders: bronze {found_bronze.total()}, silver {found.total()}, quarantine {found_refused.total()}")
    return problems


def current_and_gold(silver: list[tuple], tables: str) -> list[str]:
    """Newest row of each order, and what gold makes of those. Messages of an order are in one partition, so of two with the
    same time the later line is the newer."""
    newest: dict[str, tuple] = {}
    for row in silver:
        if row[0] not in newest or row[1] >= newest[row[0]][1]:
            newest[row[0]] = row
    groups: dict[tuple, list[tuple]] = {}
    for row in newest.values():
        if row[5] is not None:
            groups.setdefault((row[5], row[7]), []).append(row)
    top, revenue = Counter(), Counter()
    for (country, day), rows in groups.items():
        best = sorted(rows, key=lambda row: (-row[2], row[0]))[:3]
        top.update((country, str(day), row[0], row[2], place) for place, row in enumerate(best, 1))
        total = sum(row[2] for row in rows)
        average = (total / len(rows)).quantize(Decimal("0.000001"), ROUND_HALF_UP)
        revenue[(country, day, len(rows), total, average)] += 1
    current = Counter(newest.values())
    found_current = Counter(delta_log.Table(f"{tables}/silver/orders_current").rows(SILVER))
    found_top = Counter(delta_log.Table(f"{tables}/gold/top_orders").rows(["country", "day", "order_id", "amount", "position"]))
    columns = ["country", "day", "orders", "revenue", "average"]
    found_revenue = Counter(delta_log.Table(f"{tables}/gold/daily_revenue").rows(columns))
    print(f"orders: current {found_current.total()}, top {found_top.total()}, days of revenue {found_revenue.total()}")
    return (differences("current", current, found_current) + differences("top_orders", top, found_top)
            + differences("daily_revenue", revenue, found_revenue))


def provenance(name: str, *tables: delta_log.Table) -> list[str]:
    """Each offset stands once in the tables together."""
    places = Counter(row for table in tables for row in table.rows(["topic", "partition", "offset"]))
    doubled = [place for place, count in places.items() if count > 1]
    return [f"{name}: {len(doubled)} offsets stand twice, such as {doubled[0]}"] if doubled else []


def music(source: str, tables: str) -> list[str]:
    silver, refused = Counter(), Counter()
    for number, line in enumerate(open(source, encoding="utf-8")):
        play = json.loads(line)
        row = tuple(play.get(name) for name in ("country", "day", "song", "artist", "plays"))
        missing = [name for name in ("country", "day", "song", "plays") if play.get(name) is None]
        if missing:
            refused[(f"not_null: {missing[0]}", number)] += 1
        else:
            silver[row] += 1
    table = delta_log.Table(f"{tables}/silver/song_plays")
    found = Counter(table.rows(["country", "day", "song", "artist", "plays"]))
    quarantine = delta_log.Table(f"{tables}/silver/song_plays_quarantine")
    found_refused = Counter(quarantine.rows(["code", "file_row"]))
    bad_paths = [f for f, add in table.files.items() if not add["partitionValues"].get("country")]
    problems = [f"silver: {bad_paths[0]} has no partition values"] if bad_paths else []
    problems += top_songs(silver, tables)
    problems += differences("silver", silver, found)
    problems += differences("quarantine", refused, found_refused)
    print(f"music: silver {found.total()}, quarantine {found_refused.total()}, partitions "
          f"{len({tuple(sorted(add['partitionValues'].items())) for add in table.files.values()})}")
    return problems


def top_songs(silver: Counter, tables: str) -> list[str]:
    """The three most played songs of each country and day, with the three ways to count places (W-001)."""
    groups: dict[tuple, list[tuple]] = {}
    for row in silver.elements():
        groups.setdefault((row[0], row[1]), []).append(row)
    top = Counter()
    for (country, day), rows in groups.items():
        rows = sorted(rows, key=lambda row: (-row[4], row[2]))
        keys = [(-row[4], row[2]) for row in rows]
        for place, row in enumerate(rows[:3], 1):
            key = keys[place - 1]
            top[(country, day, row[2], row[4], place, keys.index(key) + 1, len({k for k in keys[:place]}))] += 1
    columns = ["country", "day", "song", "plays", "position", "rank", "dense_rank"]
    found = Counter(delta_log.Table(f"{tables}/gold/top3_songs").rows(columns))
    print(f"music: top songs {found.total()}")
    return differences("top3_songs", top, found)


def differences(name: str, expected: Counter, found: Counter) -> list[str]:
    missing, extra = expected - found, found - expected
    problems = []
    if missing:
        problems.append(f"{name}: {missing.total()} rows are missing, such as {next(iter(missing))}")
    if extra:
        problems.append(f"{name}: {extra.total()} rows should not be there, such as {next(iter(extra))}")
    return problems


def main() -> int:
    what, *arguments = sys.argv[1:]
    problems = {"orders": orders, "music": music}[what](*arguments)
    for problem in problems:
        print(f"FAIL {problem}")
    if not problems:
        print("ok: every row is where it must be, once")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
