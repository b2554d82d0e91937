import type { Edge } from '../../edge/contract/edge.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { ListedHost } from '../../edge/contract/list.ts'
import { certificateId } from '../../edge/record/entry.ts'
import type { NoAnswerReason } from '../../model/badge.ts'
import { Fault } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import { Slots } from '../../primitives/slots.ts'
import type { Books } from './books.ts'
import { broken, type Evidence, noticed, unknown } from './evidence.ts'

const AT_ONCE = 4

/** One edge: whether nginx would load what is on disk, has exactly the hosts of the store, and serves them. */
export async function verifyEdges(edge: Edge, books: Books, isPrimary: boolean): Promise<Evidence[]> {
  const [loads, held] = await Promise.all([verifyLoads(edge), edge.list().catch((error: unknown) => error)])
  if (!isList(held)) return [...loads, unknown('names', `What edge ${edge.server} has`, held)]
  const strange = held.hosts.filter(({ host, entry }) => entry !== null && !books.exposures.has(host))
  const slots = new Slots(AT_ONCE)
  const planOf = new Map(books.plans.map((plan) => [plan.planId, plan]))
  const served = [...books.exposures.values()].flatMap(({ host, planId, state, receipt }) => {
    const plan = planOf.get(planId)
    if (state !== 'applied' || books.underWay.has(host) || !plan) return []
    const id = receipt?.certificate && plan.request.tls ? certificateId(receipt.certificate.fingerprint) : undefined
    return [slots.run(() => verifyServed(edge, plan, isPrimary ? id : undefined))]
  })
  return [
    ...loads,
    ...strange.flatMap((listed) => strangeEntry(edge, listed, books)),
    ...(await Promise.all(served)).flat(),
  ]
}

const isList = (held: unknown): held is Awaited<ReturnType<Edge['list']>> =>
  typeof held === 'object' && held !== null && 'hosts' in held

async function verifyLoads(edge: Edge): Promise<Evidence[]> {
  try {
    await edge.assertValid()
    return []
  } catch (error) {
    if (error instanceof EdgeFault && error.kind === 'config_broken')
      return [broken('neighbours', `Edge ${edge.server}: ${error.message}`)]
    return [unknown('neighbours', `Whether nginx of edge ${edge.server} loads its configuration`, error)]
  }
}

function strangeEntry({ server }: Edge, { host, fence }: ListedHost, { storeId, underWay }: Books): Evidence[] {
  if (underWay.has(host)) return []
  if (fence && fence.store !== storeId)
    return [noticed('names', `Edge ${server} serves ${host} for another installation (${fence.store}).`)]
  return [broken('names', `Edge ${server} has an entry of ${host}, which has no exposure.`)]
}

/** Of a host that does not answer in time nothing is known: its backend may hang. */
const IN_TIME: readonly NoAnswerReason[] = ['timeout', 'unreachable', 'not_http']

/** Only the entry of this plan can answer its question. A backend that is down breaks no promise. */
async function verifyServed(edge: Edge, plan: Plan, certificate: string | undefined): Promise<Evidence[]> {
  const { host, proof, request } = plan
  const on = `${host} on edge ${edge.server}`
  try {
    const answer = await edge.ask({ host, path: request.health, tls: request.tls, proof })
    const hasPair = certificate === undefined || (await edge.hasCertificate(certificate))
    if (answer.kind === 'no_answer' && IN_TIME.includes(answer.reason))
      return [unknown('settled', on, new Fault('It did not answer in time.'))]
    return [
      ...(answer.kind === 'answer' && answer.entry === 'ours'
        ? []
        : [broken('settled', `${on} is not served by the entry of its plan ${plan.planId}.`)]),
      ...(hasPair ? [] : [broken('clean', `${on}: the certificate or the key that its entry names is missing.`)]),
    ]
  } catch (error) {
    return [unknown('settled', on, error)]
  }
}
