import type { LabDescription } from './description.ts'

/** What `npm start` prints last: where the page is, a command to begin with, and how to stop. */
export const firstSteps = ({ inside, outside, zone }: LabDescription, demo: boolean): string => `
  Page     ${inside} as a caller inside, ${outside} as the public
  Command  DRAWBRIDGE_URL=${inside} bin/drawbridge ${demo ? 'status' : `up hello.${zone} --server 25 --port 3000`}
  Stop     Ctrl-C`

/** What `npm start -- --tour` prints as well: commands to paste in order. */
export function tour(lab: LabDescription, state: string): string {
  const backend = (server: string, subdomain: string) =>
    `'{"zone":"${lab.zone}","subdomain":"${subdomain}","server":"${server}","port":3000,"health":"/healthz","tls":true}'`
  const host = `hello.${lab.zone}`
  const { https } = lab.edges.primary
  const inside = `curl -s --interface ${lab.callers.internal}`
  const token = (action: string) =>
    `CAPABILITY=$(${inside} $API/api/internal/token -H "$JSON" -d "{\\"planId\\":\\"$PLAN\\"${action}}" | sed -n 's/.*"capability":"\\([^"]*\\)".*/\\1/p')`
  const run = (action: string) =>
    `${inside} $API/api/deploy/${action} -H "$JSON" -H "x-deploy-capability: $CAPABILITY" -d "{\\"planId\\":\\"$PLAN\\"}"; echo`
  return `
  For scripts: ${state}/lab.json

  A tour to paste into another shell. The address ${lab.callers.internal} is in the internal network:

API=${lab.api} JSON='content-type: application/json'

# 1. Policy: what is allowed, and for whom
curl -s $API/api/policy; echo

# 2. Plan: check backend, name and certificate; change nothing
PLAN=$(${inside} $API/api/deploy/plan -H "$JSON" -d ${backend('25', 'hello')} | sed -n 's/.*"planId":"\\([^"]*\\)".*/\\1/p')
curl -s $API/api/deploy/plans/$PLAN; echo

# 3. Token: a capability to run this plan once, within five minutes, from this address. It is stored in a variable, not shown
${token('')}

# The same call from outside is refused
curl -s $API/api/internal/token -H "$JSON" -d "{\\"planId\\":\\"$PLAN\\"}"; echo

# 4. Apply: certificate, proxy and DNS together, verified on the Primary
${run('apply')}

# The host is served over https, with a certificate of the lab's own authority
curl -s --cacert ${lab.acme.ca} --resolve ${host}:${https}:${lab.edges.primary.address} https://${host}:${https}/; echo

# 5. Remove: DNS first, then the proxy, with another capability
${token(',\\"action\\":\\"remove\\"')}
${run('remove')}

# A plan for a backend that is not healthy is refused
${inside} $API/api/deploy/plan -H "$JSON" -d ${backend('253', 'sick')}; echo

# The same with commands: plan, show, ask and apply; inspect; remove
export DRAWBRIDGE_URL=${lab.inside}
bin/drawbridge up hello --server 25 --port 3000
bin/drawbridge status; bin/drawbridge diagnose ${host}
bin/drawbridge down ${host}
`
}
