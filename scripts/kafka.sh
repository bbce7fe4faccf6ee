#!/usr/bin/env bash
# Apache Kafka (KRaft, one node) from Maven Central, for tests and benches.
#   kafka.sh fetch                 the jars, kept outside the clone
#   kafka.sh start DIR [PROPERTIES [LISTENER[@ADVERTISED] ...]]
#                                  a broker with its data in DIR on free ports; the file PROPERTIES is added to its own.
#                                  Prints HOST:PORT, then one for each LISTENER, all on one line
#   kafka.sh restart DIR           starts the broker in DIR again, on the same ports, after it was ended
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

free_ports() { # COUNT
  python3 -c 'import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))' "$1"
}

start() { # DIR [PROPERTIES [LISTENER[@ADVERTISED] ...]]
  fetch
  mkdir -p "$1"
  local dir properties=${2:-/dev/null} port control ports listeners advertised addresses listener name
  dir=$(cd "$1" && pwd)
  shift; shift || true
  read -r port control ports < <(free_ports $((2 + $#)))
  addresses=127.0.0.1:$port
  listeners=PLAINTEXT://$addresses
  advertised=$listeners
  for listener in "$@"; do
    port=127.0.0.1:${ports%% *} name=${listener%%@*}
    ports=${ports#* }
    addresses+=" $port"
    listeners+=",$name://$port"
    if [[ $listener == *@* ]]; then advertised+=",$name://${listener#*@}"; else advertised+=",$name://$port"; fi
  done
  cat > "$dir/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:$control
listeners=$listeners,CONTROLLER://127.0.0.1:$control
advertised.listeners=$advertised,CONTROLLER://127.0.0.1:$control
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT,SSL:SSL,MUTUAL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=$dir/data
num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.cleaner.backoff.ms=500
log.retention.ms=-1
CONF
  cat "$properties" >> "$dir/server.properties"
  echo "$addresses" > "$dir/addresses"
  tool kafka.tools.StorageTool format --standalone -t "$(tool kafka.tools.StorageTool random-uuid | tail -1)" \
    -c "$dir/server.properties" >/dev/null
  launch "$dir"
}

launch() { # DIR
  local dir=$1 addresses port
  addresses=$(cat "$dir/addresses")
  port=${addresses%% *} port=${port#*:}
  setsid nohup java -Xmx512m -cp "$jars/libs/*" kafka.Kafka "$dir/server.properties" >>"$dir/broker.log" 2>&1 </dev/null &
  echo $! > "$dir/broker.pid"
  for _ in $(seq 300); do
    if (echo > "/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "$addresses"; return; fi
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
  start) shift; start "${1:?a folder for the broker}" "${@:2}" ;;
  restart) launch "$(cd "${2:?the folder of the broker}" && pwd)" ;;
  stop) stop "${2:?the folder of the broker}" ;;
  run) shift; fetch; tool "$@" ;;
  *) sed -n '2,10p' "$0"; exit 2 ;;
esac
