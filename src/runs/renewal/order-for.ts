import type { ChallengeResponder, ChallengeType } from '../../certificates/contract.ts'
import type { Site } from '../../edge/contract.ts'
import { Fault } from '../../model/errors.ts'
import type { Plan, ProxyChange } from '../../model/exposure.ts'
import { edgeResponder } from '../steps/certificate.ts'
import type { StepParts } from '../steps/context.ts'
import { holding } from './held-hosts.ts'
import type { InUse } from './in-use.ts'
import type { ReplaceParts } from './replace.ts'

/** What is ordered in place of a certificate, and how the authority is shown that the names are ours. */
export interface Order {
  readonly names: readonly string[]
  readonly responder: ChallengeResponder
  /** Runs `work` while the responder may do its part. */
  readonly around: <T>(work: () => Promise<T>) => Promise<T>
}

export type OrderParts = ReplaceParts &
  Pick<StepParts, 'providerFor' | 'dnsResponder' | 'challenge' | 'certificateNames'>

/** For a host that is served with a certificate of ours. */
export async function orderFor(parts: OrderParts, host: InUse): Promise<Order> {
  const plan = await parts.store.findPlan(host.planId)
  if (!plan) throw new Fault(`The plan of ${host.host} is gone.`)
  const { zone } = plan.request
  const names = namesFor(host, parts.certificateNames(zone, host.host), parts.challenge)
  if (parts.challenge === 'http-01') {
    const responder = await primaryResponder(parts, host, plan)
    return { names, responder, around: (work) => holdingOne(parts, host, work) }
  }
  const provider = parts.providerFor(zone)
  if (!provider) throw new Fault(`The zone ${zone} has no tsig key: no name in it can be proven to be ours.`)
  return { names, responder: parts.dnsResponder(zone, provider), around: (work) => work() }
}

/** The same names again, unless the zone wants a wildcard by now, or one can no longer be had. */
export function namesFor(
  { host, certificate }: Pick<InUse, 'host' | 'certificate'>,
  wanted: readonly string[],
  challenge: ChallengeType,
): readonly string[] {
  if (wanted.some(isWildcard)) return wanted
  return challenge === 'http-01' && certificate.names.some(isWildcard) ? [host] : certificate.names
}

const isWildcard = (name: string): boolean => name.startsWith('*.')

function holdingOne<T>(parts: ReplaceParts, host: InUse, work: () => Promise<T>): Promise<T> {
  return holding(parts, [host], async (held) => {
    if (held.length === 0) throw new Fault(`A run for ${host.host} is under way.`)
    return work()
  })
}

/** http-01: only the host's own file changes. */
async function primaryResponder(
  { primary, edgeLock, loadPair }: ReplaceParts,
  { host, planId, certificate, receipt }: InUse,
  { changes, proof }: Plan,
): Promise<ChallengeResponder> {
  const target = changes.find((change): change is ProxyChange => change.kind === 'proxy')?.target ?? ''
  const site: Site = { host, planId, target, proof, certificate: await loadPair(certificate) }
  return edgeResponder({
    edge: primary,
    hold: (edge, work) => edgeLock.hold(edge, work),
    rendered: async (challenges) =>
      (await primary.filesFor({ ...site, challenges })).filter(({ path }) => !primary.isCertificateFile(path)),
    written: receipt.files,
  })
}
