"""Reads a Delta table without any Delta library: the log is replayed here, the files are read by DuckDB.

Checks on the way what a reader can check: versions without a gap, one `txn` for each (application, version), no file
added twice, every file present with as many rows as its statistics say.
"""
import json
import os
from urllib.parse import unquote

import duckdb


class Table:
    def __init__(self, path: str):
        self.path = path
        self.versions = 0
        self.transactions: list[tuple[str, int]] = []
        self.files: dict[str, dict] = {}
        self.added_in: dict[str, int] = {}
        self.metadata: dict = {}
        self.commits: list[dict] = []
        self._replay()

    def _replay(self) -> None:
        log = os.path.join(self.path, "_delta_log")
        names = sorted(n for n in os.listdir(log) if n.endswith(".json") and n[:20].isdigit() and len(n) == 25)
        assert [int(n[:20]) for n in names] == list(range(len(names))), f"{log}: versions have a gap: {names}"
        self.versions = len(names)
        seen: set[str] = set()
        for version, name in enumerate(names):
            for line in open(os.path.join(log, name), encoding="utf-8"):
                action = json.loads(line)
                if "metaData" in action:
                    self.metadata = action["metaData"]
                elif "txn" in action:
                    self.transactions.append((action["txn"]["appId"], action["txn"]["version"]))
                elif "add" in action:
                    file = action["add"]["path"]
                    assert file not in seen, f"{log}: {file} is added twice"
                    seen.add(file)
                    self.files[file] = action["add"]
                    self.added_in[file] = version
                elif "remove" in action:
                    self.files.pop(action["remove"]["path"], None)
                elif "commitInfo" in action:
                    self.commits.append(action["commitInfo"])
        assert len(set(self.transactions)) == len(self.transactions), f"{log}: a batch is committed twice"

    def columns(self) -> list[tuple[str, object]]:
        return [(f["name"], f["type"]) for f in json.loads(self.metadata["schemaString"])["fields"]]

    def query(self, sql: str) -> list[tuple]:
        """Runs `sql` over the rows, as the relation `rows`; partition columns come from the log, as text. In the relation
        `committed` the rows also have the version of the table that added their file, `committed_in`."""
        db = duckdb.connect()
        db.execute("SET threads=1; SET TimeZone='UTC'; SET enable_progress_bar=false")
        parts = []
        stored = [name for name, _ in self.columns() if name not in self.metadata["partitionColumns"]]
        for file, add in self.files.items():
            path = os.path.join(self.path, unquote(file))
            assert os.path.exists(path), f"{path} is in the log and not on disk"
            count = db.execute("SELECT count(*) FROM read_parquet(?, hive_partitioning=false)", [path]).fetchone()[0]
            stated = json.loads(add["stats"])["numRecords"]
            assert count == stated, f"{path} has {count} rows, its statistics say {stated}"
            literals = "".join(
                ", " + ("NULL" if value is None else "'" + value.replace("'", "''") + "'") + f' AS "{name}"'
                for name, value in add["partitionValues"].items()
            )
            columns = ", ".join(f'"{name}"' for name in stored)
            quoted = path.replace("'", "''")
            parts.append(f"SELECT {columns}{literals}, {self.added_in[file]} AS committed_in "
                         f"FROM read_parquet('{quoted}', hive_partitioning=false)")
        if not parts:
            return []
        db.execute("CREATE VIEW committed AS " + " UNION ALL BY NAME ".join(parts))
        db.execute("CREATE VIEW rows AS SELECT * EXCLUDE (committed_in) FROM committed")
        return db.execute(sql).fetchall()

    def rows(self, columns: list[str]) -> list[tuple]:
        return self.query("SELECT " + ", ".join(f'"{c}"' for c in columns) + " FROM rows")


def exists(path: str) -> bool:
    log = os.path.join(path, "_delta_log")
    return os.path.isdir(log) and any(name.endswith(".json") for name in os.listdir(log))
