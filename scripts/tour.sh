#!/usr/bin/env bash
# What `make demo` shows once everything is built: orders from Kafka and music from files, through sandboxed stages into
# Delta tables, and a component that is dropped into a running host.
# KAFKA=host:port uses a real broker (the topic orders.v1 is made and filled there if it does not exist); ORDERS and PLAYS
# set the sizes, DEMO_DATA the folder.
source "$(dirname "$0")/env.sh"
cd "$root"
orders=${ORDERS:-60000} plays=${PLAYS:-50000} late=$((${ORDERS:-60000} / 100))
host=$target/debug/host data=${DEMO_DATA:-$root/target/demo}
export CRISOL_PLUGINS=plugins
say() { printf '\n== %s\n' "$*"; }
fail() { echo "demo: $*" >&2; exit 1; }

within() { # SECONDS WHAT COMMAND ...: until the command succeeds
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || fail "$what: not in time${host_pid:+; the host said: $(tail -3 "$data/run.log")}"
    sleep 0.2
  done
}

# What this script started ends with it.
broker_pid='' host_pid=''
trap 'for pid in $host_pid $broker_pid; do kill "$pid" 2>/dev/null || true; done' EXIT

at_orders=(--project examples/orders --set path.tables="$data/orders/tables" --set path.checkpoint="$data/orders/checkpoints")
orders() { "$host" "$@" "${at_orders[@]}"; }
music() {
  "$host" "$@" --project examples/music --set path.tables="$data/music/tables" \
    --set path.checkpoint="$data/music/checkpoints" --set path.landing="$data/landing"
}
expected() { "$cache/venv/bin/python" tests/data/expected.py "$@"; }

[ -z "${DEMO_DATA:-}" ] || [ -f "$data/.crisol-demo" ] || [ -z "$(ls -A "$data" 2>/dev/null)" ] ||
  fail "DEMO_DATA=$data: the folder is not empty, and no demo made it"
rm -rf "$data"
mkdir -p "$data/landing"
touch "$data/.crisol-demo"
python3 tests/data/generate.py orders "$orders" > "$data/orders.tsv"
python3 tests/data/generate.py orders-v3 "$late" > "$data/orders-v3.tsv"
python3 tests/data/generate.py music "$plays" > "$data/landing/plays.json"

filled=yes
if [ -n "${KAFKA:-}" ]; then
  say "orders come from the broker at $KAFKA"
  kafka() { scripts/kafka.sh run "org.apache.kafka.tools.$1" --bootstrap-server "$KAFKA" "${@:2}"; }
  produce() { kafka ConsoleProducer --topic orders.v1 --reader-property parse.key=true --reader-property key.separator=$'\t' < "$1"; }
  topics=$(timeout 60 scripts/kafka.sh run org.apache.kafka.tools.TopicCommand --bootstrap-server "$KAFKA" --list) ||
    fail "no answer from the broker at $KAFKA; KAFKA is host:port"
  if grep -qx orders.v1 <<< "$topics"; then
    say "topic orders.v1 exists: it is read as it is, and nothing is known of what it should give"
    filled=no
  else
    kafka TopicCommand --create --topic orders.v1 --partitions 4
    produce "$data/orders.tsv"
  fi
  KAFKA_BROKERS=$KAFKA
else
  say "orders come from librdkafka's in-process mock broker, over the real protocol (KAFKA=host:port for a real one)"
  coproc BROKER { exec "$target/debug/mock-broker" orders.v1 4 "$data/orders.tsv"; }
  broker_pid=$BROKER_PID
  read -r -t 60 KAFKA_BROKERS <&"${BROKER[0]}" || fail "the mock broker did not come up within 60 s"
  exec {to_broker}>&"${BROKER[1]}"
  produce() { cat "$1" >&"$to_broker"; }
fi
export KAFKA_BROKERS

say "orders: Kafka -> bronze.orders_raw -> silver.orders -> silver.orders_current -> gold"
orders run
say "music: JSON file -> bronze.song_plays_raw -> silver.song_plays, partitioned by country and day -> gold.top3_songs"
music run

for table in bronze.orders_raw silver.orders silver.orders_current gold.top_orders gold.daily_revenue; do
  orders show "$table" --limit 3
done
say "orders that were refused, with the reason"
orders show silver.orders --quarantine --limit 5
for table in silver.song_plays gold.top3_songs; do
  music show "$table" --limit 3
done
say "plays that were refused, with the reason"
music show silver.song_plays --quarantine --limit 3

say "checking the tables against a computation that knows nothing of the host"
if [ "$filled" = yes ]; then expected orders "$data/orders.tsv" "$data/orders/tables"; fi
expected music "$data/landing/plays.json" "$data/music/tables"
if [ "$filled" = yes ]; then source scripts/swap.sh; fi
say "the tables lie in $data/orders/tables and $data/music/tables: plain Delta tables"
