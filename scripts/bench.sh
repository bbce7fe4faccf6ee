#!/usr/bin/env bash
# Measures what the sandbox costs, then the host (release) beside Spark on the same machine and data. ORDERS, PLAYS and BACKLOG set the sizes.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/setup.sh
scripts/cost.sh
cargo build --release -p crisol-cli
cargo build --release -p crisol-tests --bin bare-poll
lab=$cache/bench
mkdir -p "$lab/spark"
if [ ! -f "$lab/venv/complete" ]; then
  python3 -m venv "$lab/venv"
  "$lab/venv/bin/pip" -q install --disable-pip-version-check pyspark==4.1.1 delta-spark==4.1.0
  touch "$lab/venv/complete"
fi
if [ ! -f "$lab/spark/complete" ]; then
  cat > "$lab/spark/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
  <groupId>crisol</groupId><artifactId>spark</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>io.delta</groupId><artifactId>delta-spark_4.1_2.13</artifactId><version>4.1.0</version>
      <exclusions><exclusion><groupId>org.apache.spark</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
    <dependency><groupId>org.apache.spark</groupId><artifactId>spark-sql-kafka-0-10_2.13</artifactId><version>4.1.1</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
    <dependency><groupId>org.apache.spark</groupId><artifactId>spark-token-provider-kafka-0-10_2.13</artifactId><version>4.1.1</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>3.9.1</version></dependency>
    <dependency><groupId>org.apache.commons</groupId><artifactId>commons-pool2</artifactId><version>2.12.1</version></dependency>
  </dependencies>
</project>
POM
  (cd "$lab/spark" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars && rm -f jars/{log4j,scala-library,slf4j,jsr305,lz4,snappy,zstd}*)
  touch "$lab/spark/complete"
fi
orders=${ORDERS:-2000000} plays=${PLAYS:-3000000}
[ -f "$lab/orders-$orders.tsv" ] || python3 tests/data/generate.py orders "$orders" > "$lab/orders-$orders.tsv"
[ -f "$lab/music-$plays.json" ] || python3 tests/data/generate.py music "$plays" > "$lab/music-$plays.json"
work=$(mktemp -d "$lab/run.XXXXXX")
trap 'scripts/kafka.sh stop "$work/kafka"; rm -rf "$work"' EXIT
broker=$(scripts/kafka.sh start "$work/kafka")
kafka() { scripts/kafka.sh run "org.apache.kafka.tools.$1" --bootstrap-server "$broker" "${@:2}"; }
topic() { # NAME PARTITIONS, messages on standard input
  kafka TopicCommand --create --topic "$1" --partitions "$2"
  kafka ConsoleProducer --topic "$1" --reader-property parse.key=true --reader-property key.separator=$'\t' \
    --command-property linger.ms=50 --command-property batch.size=262144
}
topic orders.v1 4 < "$lab/orders-$orders.tsv"
"$lab/venv/bin/python" benches/bench.py --host "$target/release/host" --plugins plugins --broker "$broker" \
  --orders "$lab/orders-$orders.tsv" --music "$lab/music-$plays.json" --jars "$lab/spark/jars/*" --work "$work" "$@"
backlog=${BACKLOG:-5000000} wide=100000
endless() { while cat "$lab/orders-$orders.tsv"; do :; done; }
topic backlog 4 < <(endless 2>/dev/null | head -n "$backlog")
topic wide 1000 < <(endless 2>/dev/null | head -n "$wide")
"$lab/venv/bin/python" benches/kafka.py --host "$target/release/host" --poll "$target/release/bare-poll" --broker "$broker" \
  --topic backlog --messages "$backlog" --wide wide --work "$work"
"$lab/venv/bin/python" benches/routing.py --host "$target/release/host" --plugins plugins --work "$work"
"$lab/venv/bin/python" benches/swap.py --host "$target/release/host" --plugins plugins --broker "$broker" --work "$work"
