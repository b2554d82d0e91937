import type { LabDescription } from './description.ts'

/** What stands on the terminal once everything is up: where things are, and commands to paste, in the order of the calls. */
export function tour(lab: LabDescription, state: string): string {
  const backend = (server: string, subdomain: string) =>
    `'{"zone":"${lab.zone}","subdomain":"${subdomain}","server":"${server}","port":3000,"health":"/healthz","tls":true}'`
  return `
  In a browser: ${lab.outside} as the public sees it, ${lab.inside} as someone inside does.
  For scripts:  ${state}/lab.json

  A tour to paste into another shell. Calls from ${lab.callers.internal} come from the internal network:

API=${lab.api} JSON='content-type: application/json'

# 1. What is allowed here, and to whom
curl -s $API/api/policy; echo

# 2. Plan: look at backend, name and certificate, change nothing
PLAN=$(curl -s --interface ${lab.callers.internal} $API/api/deploy/plan -H "$JSON" -d ${backend('25', 'hello')} | sed -n 's/.*"planId":"\\([^"]*\\)".*/\\1/p')
curl -s $API/api/deploy/plans/$PLAN; echo

# 3. Token: the right to run this plan once, within five minutes, from this address
curl -s --interface ${lab.callers.internal} $API/api/internal/token -H "$JSON" -d "{\\"planId\\":\\"$PLAN\\"}"; echo

# The same from outside is refused
curl -s $API/api/internal/token -H "$JSON" -d "{\\"planId\\":\\"$PLAN\\"}"; echo

# And so is a plan for a backend that is not healthy
curl -s $API/api/deploy/plan -H "$JSON" -d ${backend('253', 'hello')}; echo

  Ctrl-C ends it all.
`
}
