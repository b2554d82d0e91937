#!/bin/sh
# Runs nginx, the agent and the service of a container. When one of them ends, all end with code 1, and who runs the container starts
# it again. With words it runs these instead.
set -eu
[ $# -eq 0 ] || exec "$@"

CONFIG=/etc/drawbridge
parts=

# Runs a program until it ends or is told to, and tells the first process when it has ended.
part() {
  (
    trap - TERM INT USR1
    "$@" &
    program=$!
    trap 'kill "$program" 2>/dev/null || true' TERM
    # A signal ends the first wait, not the program.
    wait "$program" || wait "$program" || true
    kill -USR1 1 2>/dev/null || true
  ) &
  parts="$parts $!"
}

stop() {
  trap '' TERM INT USR1
  for part in $parts; do kill -TERM "$part" 2>/dev/null || true; done
  wait
  exit "$1"
}
trap 'stop 0' TERM INT
trap 'stop 1' USR1

# Volumes are empty at first.
install -d -m 0750 -o root -g drawbridge "$CONFIG"
install -d -m 0700 -o drawbridge -g drawbridge "$CONFIG/secrets" /var/lib/drawbridge
install -d -m 0700 /var/lib/drawbridge-edge
install -d -m 0755 /etc/nginx/drawbridge

part nginx -g 'daemon off;'
if [ -e "$CONFIG/edge.yaml" ]; then
  part drawbridge edge --config "$CONFIG/edge.yaml"
fi
if [ -e "$CONFIG/drawbridge.yaml" ]; then
  part setpriv --reuid drawbridge --regid drawbridge --init-groups --bounding-set=-all --no-new-privs \
    drawbridge serve --config "$CONFIG/drawbridge.yaml"
elif [ ! -e "$CONFIG/edge.yaml" ]; then
  echo 'drawbridge is not configured yet; only nginx runs. Run drawbridge init --agent in this container, then restart it.'
fi
while :; do wait; done
