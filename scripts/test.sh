#!/usr/bin/env bash
# All tests: sets up, builds host and components, starts one Apache Kafka for the whole run and a secured one, runs every test.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/setup.sh
for tool in java:openjdk-17-jre-headless mvn:maven strace:strace openssl:openssl; do
  command -v "${tool%%:*}" >/dev/null || { echo "test: ${tool%%:*} is missing; install it with: apt-get install ${tool##*:}" >&2; exit 1; }
done
scripts/plugins.sh bundled
scripts/plugins.sh guests
broker=$(mktemp -d "${TMPDIR:-/tmp}/crisol-kafka.XXXXXX")
trap 'scripts/kafka.sh stop "$broker"; scripts/kafka.sh stop "$broker/secure"; rm -rf "$broker"' EXIT
CRISOL_TEST_KAFKA=$(scripts/kafka.sh start "$broker")
CRISOL_TEST_KAFKA_SECURE=$(scripts/kafka-secure.sh start "$broker/secure")
export CRISOL_TEST_KAFKA CRISOL_TEST_KAFKA_SECURE
export CRISOL_TEST_PYTHON=$cache/venv/bin/python
build
cargo test --workspace --features crisol-cli/failpoints --no-fail-fast "$@"
