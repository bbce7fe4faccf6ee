#!/usr/bin/env bash
# The main job on real input: orders from Kafka and music from files, through sandboxed stages into Delta tables.
# KAFKA=host:port uses a real broker (the topic orders.v1 is made and filled there if it does not exist).
source "$(dirname "$0")/env.sh"
cd "$root"
orders=${ORDERS:-60000} plays=${PLAYS:-50000}
say() { printf '\n== %s\n' "$*"; }

say "setting up: toolchain, host, components (the first time takes a while)"
scripts/setup.sh
scripts/plugins.sh
build
host=$target/debug/host

data=$root/target/demo
rm -rf "$data"
mkdir -p "$data/landing"
python3 tests/data/generate.py orders "$orders" > "$data/orders.tsv"
python3 tests/data/generate.py music "$plays" > "$data/landing/plays.json"

filled=yes
if [ -n "${KAFKA:-}" ]; then
  say "orders come from the broker at $KAFKA"
  topics=$(timeout 60 scripts/kafka.sh run org.apache.kafka.tools.TopicCommand --bootstrap-server "$KAFKA" --list) ||
    { echo "demo: no answer from the broker at $KAFKA; KAFKA is host:port" >&2; exit 1; }
  if grep -qx orders.v1 <<< "$topics"; then
    say "topic orders.v1 exists: it is read as it is, and nothing is known of what it should give"
    filled=no
  else
    scripts/kafka.sh run org.apache.kafka.tools.TopicCommand --bootstrap-server "$KAFKA" --create --topic orders.v1 --partitions 4
    scripts/kafka.sh run org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$KAFKA" --topic orders.v1 \
      --reader-property parse.key=true --reader-property key.separator=$'\t' < "$data/orders.tsv"
  fi
  KAFKA_BROKERS=$KAFKA
else
  say "orders come from librdkafka's in-process mock broker, over the real protocol (KAFKA=host:port for a real one)"
  coproc BROKER { exec "$target/debug/mock-broker" orders.v1 4 "$data/orders.tsv"; }
  broker_pid=$BROKER_PID
  trap 'kill "$broker_pid" 2>/dev/null || true' EXIT
  read -r -t 60 KAFKA_BROKERS <&"${BROKER[0]}" || { echo "demo: the mock broker did not come up within 60 s" >&2; exit 1; }
fi
export KAFKA_BROKERS

run() { # PROJECT [SETTING ...]
  local project=$1; shift
  "$host" run --project "examples/$project" --plugins plugins/ "$@" | tee "$data/$project.accounts"
}
at() { echo "--set path.tables=$data/$1/tables --set path.checkpoint=$data/$1/checkpoints"; }

say "orders: Kafka -> bronze.orders_raw -> silver.orders -> silver.orders_current -> gold"
run orders $(at orders)
say "music: JSON file -> bronze.song_plays_raw -> silver.song_plays, partitioned by country and day -> gold.top3_songs"
run music $(at music) --set path.landing="$data/landing"

for table in bronze.orders_raw silver.orders silver.orders_current gold.top_orders gold.daily_revenue; do
  "$host" show "$table" --limit 3 --project examples/orders $(at orders)
done
say "orders that were refused, with the reason"
"$host" show silver.orders --quarantine --limit 5 --project examples/orders $(at orders)
for table in silver.song_plays gold.top3_songs; do
  "$host" show "$table" --limit 3 --project examples/music $(at music)
done
say "plays that were refused, with the reason"
"$host" show silver.song_plays --quarantine --limit 3 --project examples/music $(at music)

say "checking the counts against a computation that knows nothing of the host"
if [ "$filled" = yes ]; then
  "$cache/venv/bin/python" tests/data/expected.py orders "$data/orders.tsv" "$data/orders/tables"
fi
"$cache/venv/bin/python" tests/data/expected.py music "$data/landing/plays.json" "$data/music/tables"
say "the tables lie in $data/orders/tables and $data/music/tables: plain Delta tables"
