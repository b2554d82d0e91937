#!/bin/sh
# Runs Drawbridge on the Node that comes with it. Works from /usr, from any other folder and through a link.
self=$(readlink -f -- "$0")
root=${self%/bin/drawbridge}/lib/drawbridge
exec "$root/node/bin/node" "$root/bin/drawbridge" "$@"
