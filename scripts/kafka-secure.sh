#!/usr/bin/env bash
# An Apache Kafka with every kind of listener, users and access rules, for the tests of security.
#   kafka-secure.sh start DIR   starts it and says all about it in DIR/secure.json; prints DIR
#   kafka.sh stop DIR           ends it
source "$(dirname "$0")/env.sh"
set -E
kafka=$root/scripts/kafka.sh
users=(reader viewer stranger)

password() { echo "$1-p4ss-$(openssl rand -hex 8)"; }

# A CA, a certificate of the server, and one of a client whose key has a password.
certificates() { # DIR
  cd "$1"
  local name
  for name in ca other-ca; do
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=crisol-$name" -keyout $name.key -out $name.pem
  done
  for name in server reader; do
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout $name.key -out $name.csr
    openssl x509 -req -days 30 -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $name.pem \
      -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1")
  done
  cat server.key server.pem > server-store.pem
  openssl pkcs8 -topk8 -in reader.key -out reader-locked.key -passout "pass:$2"
  openssl pkcs12 -export -in reader.pem -inkey reader.key -certfile ca.pem -out reader.p12 -passout "pass:$2"
}

properties() { # DIR
  local user plain='org.apache.kafka.common.security.plain.PlainLoginModule required'
  for user in "${users[@]}"; do plain+=" user_$user=\"${passwords[$user]}\""; done
  cat <<CONF
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
auto.create.topics.enable=true
super.users=User:ANONYMOUS
early.start.listeners=CONTROLLER
ssl.keystore.type=PEM
ssl.keystore.location=$1/server-store.pem
ssl.truststore.type=PEM
ssl.truststore.location=$1/ca.pem
listener.name.mutual.ssl.client.auth=required
ssl.principal.mapping.rules=RULE:^CN=(.*)\$/\$1/
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
CONF
  local listener mechanism
  for listener in sasl_plaintext sasl_ssl; do
    echo "listener.name.$listener.plain.sasl.jaas.config=$plain;"
    for mechanism in 256 512; do
      echo "listener.name.$listener.scram-sha-$mechanism.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;"
    done
  done
}

# `reader` may see and read topics that begin with `secure.`, `viewer` may only see them; no one has rights on groups.
access() { # HOST:PORT
  local mechanism
  for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
    "$kafka" run org.apache.kafka.tools.ConfigCommand --bootstrap-server "$1" --alter --entity-type users \
      --entity-name reader --add-config "$mechanism=[password=${passwords[reader]}]"
  done
  allow "$1" reader --operation Describe --operation Read
  allow "$1" viewer --operation Describe
}

allow() { # HOST:PORT USER OPERATIONS
  "$kafka" run org.apache.kafka.tools.AclCommand --bootstrap-server "$1" --add --topic secure. \
    --resource-pattern-type prefixed --allow-principal "User:$2" "${@:3}"
}

start() { # DIR
  mkdir -p "$1"
  local dir user plain ssl mutual sasl sasl_ssl
  dir=$(cd "$1" && pwd)
  declare -gA passwords
  for user in "${users[@]}" key; do passwords[$user]=$(password "$user"); done
  trap 'tail "$dir"/*.log >&2' ERR
  (certificates "$dir" "${passwords[key]}") >"$dir/openssl.log" 2>&1
  properties "$dir" > "$dir/secure.properties"
  read -r plain ssl mutual sasl sasl_ssl < <("$kafka" start "$dir" "$dir/secure.properties" SSL MUTUAL SASL_PLAINTEXT SASL_SSL)
  access "$plain" >"$dir/access.log" 2>&1
  cat > "$dir/secure.json" <<JSON
{ "plaintext": "$plain", "ssl": "$ssl", "mutual": "$mutual", "sasl_plaintext": "$sasl", "sasl_ssl": "$sasl_ssl",
  "passwords": { "reader": "${passwords[reader]}", "viewer": "${passwords[viewer]}",
    "stranger": "${passwords[stranger]}", "key": "${passwords[key]}" } }
JSON
  echo "$dir"
}

case ${1:-} in
  start) start "${2:?a folder for the broker}" ;;
  *) sed -n '2,4p' "$0"; exit 2 ;;
esac
