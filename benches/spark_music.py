#!/usr/bin/env python3
"""The music job in Spark: JSON lines -> typed silver, partitioned by country and day -> top 3.  spark_music.py INPUT OUT

Prints one JSON line with rows, seconds and the peak RSS of the JVM. Like the host it starts from JSON files and ends in
the three most played songs of each country and day; unlike the host it writes no bronze, keeps no provenance and has no transaction.
"""
import json
import os
import shutil
import sys
import time

source, out = sys.argv[1:3]
shutil.rmtree(out, ignore_errors=True)
started = time.time()

from pyspark.sql import SparkSession, Window, functions as F  # noqa: E402

spark = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
         .config("spark.sql.shuffle.partitions", "4").config("spark.ui.enabled", "false")
         .config("spark.ui.showConsoleProgress", "false").config("spark.sql.session.timeZone", "UTC").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
session = time.time() - started
typed = (spark.read.schema("country string, day string, song string, artist string, plays long").json(source)
         .where("country is not null and day is not null and song is not null and plays is not null"))
typed.write.mode("overwrite").partitionBy("country", "day").parquet(os.path.join(out, "silver"))
window = Window.partitionBy("country", "day").orderBy(F.desc("plays"), "song")
top = spark.read.parquet(os.path.join(out, "silver")).withColumn("position", F.row_number().over(window))
top.where("position <= 3").write.mode("overwrite").partitionBy("country", "day").parquet(os.path.join(out, "gold"))
total = time.time() - started
rows = spark.read.parquet(os.path.join(out, "silver")).count()
pid = spark.sparkContext._gateway.proc.pid
children = open(f"/proc/{pid}/task/{pid}/children").read().split()
jvm = [p for p in [pid, *map(int, children)] if "java" in open(f"/proc/{p}/cmdline").read()]
rss = max(int(line.split()[1]) for p in jvm for line in open(f"/proc/{p}/status") if line.startswith("VmHWM"))
print(json.dumps({"engine": "spark", "rows": rows, "seconds": {"session": round(session, 2), "total": round(total, 2)},
                  "rss_peak_mib": rss // 1024}))
spark.stop()
