import { resolve4, resolveSoa } from 'node:dns/promises'
import { dnsReader } from '../../dns/reader.ts'
import { rfc2136Provider } from '../../dns/rfc2136.ts'
import { FolderLock } from '../../edge/fences/folder-lock.ts'
import { assertUnchanged, withInclude } from '../../estate/reading/main-file.ts'
import { refusalText } from '../../estate/reading/refusal.ts'
import { type Endpoint, formatEndpoint } from '../../model/address.ts'
import { socketsOf } from '../../nginx/config/sockets.ts'
import { PresentGeneration } from '../../nginx/generations/present.ts'
import { leaveNginx } from '../../nginx/leave.ts'
import { localEdge } from '../../nginx/local-edge.ts'
import { findNginx } from '../../nginx/process/find-nginx.ts'
import { listeningReader } from '../../nginx/process/neighbours.ts'
import { testAsUnit } from '../../nginx/process/nginx-program.ts'
import { rehearseBase } from '../../nginx/process/rehearse.ts'
import type { InitParts } from '../../operate/init/contract.ts'
import { AGENT_UNIT, serviceUser } from '../../operate/init/units.ts'
import { systemClock } from '../../primitives/clock.ts'

const clock = systemClock

/** A person waits for the result. */
const DNS_LIMITS = { limitMs: 6_000 }

/** What `init` acts with. */
export const initParts: InitParts = {
  clock,
  findNginx: (asked) => findNginx(asked, clock),
  withInclude(main, place) {
    const text = withInclude(main, place)
    if (text !== main) assertUnchanged(place, main)
    return text
  },
  assertUnchanged,
  serviceUser,
  async rehearse(place, main) {
    const listening = await listeningReader({ ...place, clock })()
    await rehearseBase({ ...place, clock }, listening, main)
    const { http, https } = socketsOf(listening)
    return [
      ...http.map((one) => ({ ...one, port: place.ports.http })),
      ...https.map((one) => ({ ...one, port: place.ports.https })),
    ].map(({ address, port, isShared }) => ({
      place: formatEndpoint({ address, port }).replace(/^0\.0\.0\.0:/, '*:'),
      isShared,
    }))
  },
  async rehearseAsUnit(place) {
    const refusal = await testAsUnit({ ...place, clock }, place.config, AGENT_UNIT)
    if (refusal) throw new Error(`${refusalText(refusal, 'nginx rejects its configuration')} Nothing was written.`)
  },
  async withEdge(place, work) {
    const edge = localEdge({ ...place, clock }, { lock: new FolderLock(place.folder, place.server) })
    return work(edge).finally(() => edge.release())
  },
  // The folder is as old as the rehearsal: its only entry can be the one that could not be taken away.
  leave: (place) => leaveNginx({ ...place, clock }, { withHosts: true }),
  isPrepared: ({ folder }) => new PresentGeneration(folder).number !== undefined,
  async assertAuthoritative(zone, server) {
    const reason = await authorityFault(zone, server)
    if (reason !== undefined)
      throw new Error(`${formatEndpoint(server)} is not an authoritative server of ${zone}: ${reason}.`)
  },
  findDnsServer,
  async assertKeyWorks(zone, primary, key) {
    await rfc2136Provider({ zone, primary, key, clock }).checkAccess()
  },
}

/** Why the server is not authoritative for the zone. Undefined if it is. */
async function authorityFault(zone: string, server: Endpoint): Promise<string | undefined> {
  const [outcome] = await dnsReader(server, DNS_LIMITS).ask([{ name: zone, type: 'SOA' }])
  if (!outcome || outcome.kind === 'no_answer') return outcome?.reason ?? 'no answer'
  if (!outcome.authoritative) return `${outcome.rcode}, not authoritative`
  return outcome.answers.some(({ type }) => type === 'SOA') ? undefined : `${outcome.rcode} and no SOA record`
}

/** This machine first, then the server that the SOA record names. */
async function findDnsServer(zone: string): Promise<Endpoint | undefined> {
  const here = { address: '127.0.0.1', port: 53 }
  if ((await authorityFault(zone, here)) === undefined) return here
  try {
    const { nsname } = await resolveSoa(zone)
    const [address] = await resolve4(nsname)
    const named = address === undefined ? undefined : { address, port: 53 }
    return named && (await authorityFault(zone, named)) === undefined ? named : undefined
  } catch {
    return undefined
  }
}
