#!/bin/sh
# Runs Drawbridge on the Node that comes with it. Works from /usr, from any other folder and through a link.
self=$(readlink -f -- "$0")
root=${self%/bin/drawbridge}/lib/drawbridge
# Without the option every process of the same user could open Node's debugger.
exec "$root/node/bin/node" --disable-sigusr1 "$root/bin/drawbridge" "$@"
