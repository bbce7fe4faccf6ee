#!/usr/bin/env bash
# Apache Kafka (KRaft, one node) from Maven Central, for tests and benches.
#   kafka.sh fetch                 the jars, kept outside the clone
#   kafka.sh start DIR             a broker with its data in DIR on free ports; prints HOST:PORT
#   kafka.sh stop DIR              ends the broker that was started in DIR, by its process id
#   kafka.sh run CLASS [ARG ...]   one of Kafka's own tools
source "$(dirname "$0")/env.sh"
version=4.4.0
jars=$cache/kafka-$version

fetch() {
  [ -f "$jars/complete" ] && return
  mkdir -p "$jars"
  cat > "$jars/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
  <groupId>crisol</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
POM
  (cd "$jars" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=libs >&2)
  touch "$jars/complete"
}

tool() { java -Xmx512m -cp "$jars/libs/*" "$@" 2> >(grep -v SLF4J >&2); }

free_ports() {
  python3 -c 'import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))'
}

start() {
  fetch
  mkdir -p "$1"
  local dir port control
  dir=$(cd "$1" && pwd)
  read -r port control < <(free_ports)
  cat > "$dir/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:$control
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control
advertised.listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=$dir/data
num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
CONF
  tool kafka.tools.StorageTool format --standalone -t "$(tool kafka.tools.StorageTool random-uuid | tail -1)" \
    -c "$dir/server.properties" >/dev/null
  setsid nohup java -Xmx512m -cp "$jars/libs/*" kafka.Kafka "$dir/server.properties" >"$dir/broker.log" 2>&1 </dev/null &
  echo $! > "$dir/broker.pid"
  for _ in $(seq 300); do
    if (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "127.0.0.1:$port"; return; fi
    kill -0 "$(cat "$dir/broker.pid")" 2>/dev/null || break
    sleep 0.2
  done
  echo "kafka.sh: the broker did not come up within 60 s:" >&2
  tail -20 "$dir/broker.log" >&2
  exit 1
}

stop() {
  local pid
  pid=$(cat "$1/broker.pid") || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 150); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.2; done
  kill -9 "$pid"
}

case ${1:-} in
  fetch) fetch ;;
  start) start "${2:?a folder for the broker}" ;;
  stop) stop "${2:?the folder of the broker}" ;;
  run) shift; fetch; tool "$@" ;;
  *) sed -n '2,7p' "$0"; exit 2 ;;
esac
