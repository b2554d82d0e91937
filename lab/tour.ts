import type { LabDescription } from './description.ts'

/** What stands on the terminal once everything is up: where things are, and commands to paste, in the order of the calls. */
export function tour(lab: LabDescription, state: string): string {
  const backend = (server: string, subdomain: string) =>
    `'{"zone":"${lab.zone}","subdomain":"${subdomain}","server":"${server}","port":3000,"health":"/healthz","tls":true}'`
  const host = `hello.${lab.zone}`
  const { https } = lab.edges.primary
  const inside = `curl -s --interface ${lab.callers.internal}`
  const token = (action: string) =>
    `RIGHT=$(${inside} $API/api/internal/token -H "$JSON" -d "{\\"planId\\":\\"$PLAN\\"${action}}" | sed -n 's/.*"capability":"\\([^"]*\\)".*/\\1/p')`
  const run = (action: string) =>
    `${inside} $API/api/deploy/${action} -H "$JSON" -H "x-deploy-capability: $RIGHT" -d "{\\"planId\\":\\"$PLAN\\"}"; echo`
  return `
  In a browser: ${lab.outside} as the public sees it, ${lab.inside} as someone inside does.
  For scripts:  ${state}/lab.json

  A tour to paste into another shell. Calls from ${lab.callers.internal} come from the internal network:

API=${lab.api} JSON='content-type: application/json'

# 1. What is allowed here, and to whom
curl -s $API/api/policy; echo

# 2. Plan: look at backend, name and certificate, change nothing
PLAN=$(${inside} $API/api/deploy/plan -H "$JSON" -d ${backend('25', 'hello')} | sed -n 's/.*"planId":"\\([^"]*\\)".*/\\1/p')
curl -s $API/api/deploy/plans/$PLAN; echo

# 3. Token: the right to run this plan once, within five minutes, from this address. It is kept in a variable, not shown
${token('')}

# The same from outside is refused
curl -s $API/api/internal/token -H "$JSON" -d "{\\"planId\\":\\"$PLAN\\"}"; echo

# 4. Apply: certificate, proxy and DNS together, verified on the Primary
${run('apply')}

# The host is on the air, over https, with the lab's own certificate authority
curl -s --cacert ${lab.acme.ca} --resolve ${host}:${https}:${lab.edges.primary.address} https://${host}:${https}/; echo

# 5. Remove: DNS first, then the proxy, with a right of its own
${token(',\\"action\\":\\"remove\\"')}
${run('remove')}

# A plan for a backend that is not healthy is refused
curl -s $API/api/deploy/plan -H "$JSON" -d ${backend('253', 'sick')}; echo

# The same by commands: plan, show, ask, apply; then look; then off again
export DRAWBRIDGE_URL=${lab.inside}
bin/drawbridge up hello --server 25 --port 3000
bin/drawbridge status; bin/drawbridge diagnose ${host}
bin/drawbridge down ${host}

  Ctrl-C ends it all.
`
}
