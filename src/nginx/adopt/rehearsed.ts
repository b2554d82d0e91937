import { createHash } from 'node:crypto'
import type { JudgedSite } from '../../estate/adopt/judge/judge-site.ts'
import { type GivenWorld, hostsIn, judgeHost, type Sites, serversOf } from '../../estate/adopt/sites.ts'
import type { Adoption } from '../../model/options/adoption.ts'
import type { Clock } from '../../primitives/clock.ts'
import { renderBlock } from '../config/render-site.ts'
import { isTold, sentenceOf } from './rehearsal/compare.ts'
import { type Rehearsal, type RehearsedHost, rehearse } from './rehearsal/rehearse.ts'

interface RehearsalParts {
  readonly binary: string
  readonly clock: Clock
}

/** Judges every host that the sites name. */
export const judgeSites = (sites: Sites, world: GivenWorld, parts: RehearsalParts): Promise<Adoption[]> =>
  judgeHosts(hostsIn(sites), sites, world, parts)

/**
 * Judges hosts by their directives, then rehearses those that could be adopted in a copy of nginx. A difference that no finding
 * announces refuses the host: an adopted host must not answer differently without notice.
 */
export async function judgeHosts(
  hosts: readonly string[],
  sites: Sites,
  world: GivenWorld,
  parts: RehearsalParts,
): Promise<Adoption[]> {
  const judged = new Map(hosts.map((host) => [host, judgeHost(host, sites, world)]))
  const rehearsed = [...judged].flatMap(([host, { adoption, paths }]): RehearsedHost[] => {
    if (adoption.refused.length > 0 || !adoption.backend) return []
    return [{ host, site: serversOf(host, sites), entry: entryOf(adoption, world), https: world.ports.https, paths }]
  })
  const around = JSON.stringify(sites.http)
  const known = new Map(rehearsed.map((one) => [one.host, keyOf(one, around)]))
  const missing = rehearsed.filter(({ host }) => !latest.has(known.get(host) ?? ''))
  const found = missing.length === 0 ? new Map<string, Rehearsal>() : await rehearse(missing, sites.http, parts)
  for (const [host, rehearsal] of found) keep(known.get(host) ?? '', rehearsal)
  return [...judged].map(([host, one]) => {
    const rehearsal = found.get(host) ?? latest.get(known.get(host) ?? '')
    return rehearsal ? withRehearsal(one, rehearsal) : one.adoption
  })
}

/** One adoption rehearses the same site several times: for the plan, the check and the apply. */
const latest = new Map<string, Rehearsal>()
const MOST_KEPT = 100

function keep(key: string, rehearsal: Rehearsal): void {
  // A rehearsal that failed may succeed the next time.
  if ('failed' in rehearsal) return
  latest.set(key, rehearsal)
  const [oldest = ''] = latest.keys()
  if (latest.size > MOST_KEPT) latest.delete(oldest)
}

/** `around`: a text of the http block, made once for all hosts. */
const keyOf = ({ host, site, entry, paths }: RehearsedHost, around: string): string =>
  createHash('sha256')
    .update(JSON.stringify([host, site, entry, paths]))
    .update(around)
    .digest('hex')

/** The entry, as an apply would write it. Addresses and proofs do not affect its answers. */
function entryOf({ host, tls, options }: Adoption, { ports, named }: GivenWorld): string {
  const target = `${options?.backendTls ? 'https' : 'http'}://192.0.2.1:80`
  const identity = { question: '0', answer: '0' }
  return renderBlock(
    { host, plan: 'plan_rehearsal', target, furtherTargets: undefined, tls, identity, options },
    { listen: ['127.0.0.1'], ports, named },
  )
}

function withRehearsal({ adoption, told }: JudgedSite, rehearsal: Rehearsal): Adoption {
  const [file = ''] = adoption.files
  const line = adoption.carried.find((one) => one.file === file)?.line ?? 0
  const refused = (sentence: string) => ({ directive: 'server', file, line, sentence })
  if ('failed' in rehearsal)
    return {
      ...adoption,
      refused: [refused(`Its answers could not be compared with those of an entry: ${rehearsal.failed}.`)],
    }
  const untold = [...rehearsal].filter((difference) => !isTold(difference, told)).map(sentenceOf)
  return { ...adoption, refused: [...new Set(untold)].map(refused) }
}
