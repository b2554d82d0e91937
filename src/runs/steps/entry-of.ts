import { canonicalEntry, certificateId, type Entry, type EntryTarget } from '../../edge/record/entry.ts'
import { entryProof } from '../../edge/record/proof.ts'
import { parseEndpoint } from '../../model/address.ts'
import { Fault } from '../../model/errors.ts'
import type { Plan, ProxyChange } from '../../model/exposure.ts'
import type { ChosenCertificate } from '../../model/receipt.ts'

/** What an edge is told to do for a plan. `certificate` undefined: without TLS. */
export function entryOf(plan: Plan, certificate: ChosenCertificate | undefined): Entry {
  const { host, planId, exposureId, proof, request, changes } = plan
  const proxy = changes.find((change): change is ProxyChange => change.kind === 'proxy')
  if (!proxy) throw new Fault(`The plan ${planId} has nothing that an edge could serve.`)
  const { owner, note, health, options = {} } = request
  const servers = [request.server, ...(options.backends ?? []).map(({ server }) => server)]
  return canonicalEntry({
    host,
    exposure: exposureId,
    plan: planId,
    targets: [proxy.target, ...(proxy.furtherTargets ?? [])].map((url, at) => targetIn(url, servers[at])),
    certificate: certificate ? certificateId(certificate.fingerprint) : null,
    ...(proxy.options && { options: proxy.options }),
    proof: entryProof(proof, host),
    health,
    ...(owner !== undefined && { owner }),
    ...(note !== undefined && { note }),
  })
}

function targetIn(url: string, server: string | undefined): EntryTarget {
  const [, scheme, endpoint = ''] = /^(https?):\/\/(.+)$/.exec(url) ?? []
  const parsed = parseEndpoint(endpoint, 0)
  if (!parsed) throw new Fault(`${url} is not a target.`)
  return {
    scheme: scheme === 'https' ? 'https' : 'http',
    ...(server !== undefined && { server }),
    ...{ address: parsed.address, port: parsed.port },
  }
}
