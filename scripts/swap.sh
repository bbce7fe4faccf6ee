# Sourced by tour.sh: version 3 of the orders arrives at a running host before the component that decodes it.
export CRISOL_PLUGINS=$data/plugins
mkdir "$CRISOL_PLUGINS"
cp plugins/*.wasm "$CRISOL_PLUGINS"
refused() { orders quarantine list silver.orders -o json | sed -n 's/.*"unsupported_schema_version".*"rows":\([0-9]*\).*/\1/p'; }
wait_in_quarantine() { [ "$(refused)" = "$1" ]; }
serves() { grep -q 'component `orders`: 3.0.0' "$data/run.log"; }
in_gold() {
  orders show gold.top_orders --limit 100 -o json | grep -q '"schema_version":3' &&
    orders show gold.daily_revenue --limit 1000 -o json | grep -q '"day":"2026-03-29"'
}
ended() { ! kill -0 "$host_pid" 2>/dev/null; }

say "hot swap: a host runs, and $late orders of schema version 3 arrive; nothing in $CRISOL_PLUGINS can decode them"
"$host" run --trigger continuous "${at_orders[@]}" 2> "$data/run.log" > "$data/run.accounts" &
host_pid=$!
before=$(refused)
produce "$data/orders-v3.tsv"
within 120 "the orders of version 3 are in quarantine" wait_in_quarantine $((${before:-0} + late))
orders quarantine list silver.orders

say "its component is dropped into the folder of the running host: cp plugins/later/orders-v3.wasm"
cp plugins/later/orders-v3.wasm "$CRISOL_PLUGINS/.new"
mv "$CRISOL_PLUGINS/.new" "$CRISOL_PLUGINS/orders-v3.wasm"
within 120 "the component serves" serves
grep 'component `orders`' "$data/run.log"
orders plugins

say "the rows are replayed: host quarantine replay silver.orders --code unsupported_schema_version"
orders quarantine replay silver.orders --code unsupported_schema_version
within 120 "gold has the orders of version 3" in_gold
kill "$host_pid"
within 60 "the host ends" ended
wait "$host_pid" || fail "the host ended with $?"
host_pid=''
orders show silver.orders --limit 1
orders show gold.top_orders --limit 3

say "checking the tables again, now with version 3"
cat "$data/orders.tsv" "$data/orders-v3.tsv" > "$data/all.tsv"
expected orders "$data/all.tsv" "$data/orders/tables" 1 2 3
