import { expect, test } from 'vitest'
import type { Edge } from '../../../src/edge/contract/edge.ts'
import type { EdgeAnswer } from '../../../src/edge/contract/visit.ts'
import { Fault } from '../../../src/model/errors.ts'
import type { Books } from '../../../src/operate/verify/books.ts'
import { verifyEdges } from '../../../src/operate/verify/edges.ts'
import { verifyHosts } from '../../../src/operate/verify/hosts.ts'
import { sampleExposure, samplePlan } from '../../contract/samples.ts'

const plan = samplePlan({ state: 'applied' })
const exposure = sampleExposure({ host: plan.host, planId: plan.planId, state: 'applied' })
const books: Books = {
  ...{ exposures: new Map([[plan.host, exposure]]), plans: [plan], underWay: new Set(), storeId: 'store_1' },
  ...{ runs: 0, auditLines: 0, evidence: [] },
}
const reached = (
  kind: EdgeAnswer | Fault,
): Pick<Edge, 'server' | 'list' | 'assertValid' | 'ask' | 'hasCertificate'> => ({
  server: '23',
  list: async () => ({ generation: '1', number: 1, hosts: [], stray: [] }),
  assertValid: async () => undefined,
  hasCertificate: async () => true,
  ask: async () => {
    if (kind instanceof Fault) throw kind
    return kind
  },
})
const answer = (entry: 'ours' | 'other'): EdgeAnswer => ({ kind: 'answer', httpStatus: 502, latencyMs: 1, entry })

test.each<[string, EdgeAnswer | Fault, string[]]>([
  ['its entry answers, without a backend', answer('ours'), []],
  ['another server block answers', answer('other'), ['settled broken']],
  ['the edge knows no such name', { kind: 'no_answer', reason: 'unknown_host' }, ['settled broken']],
  ['nginx is stopped', { kind: 'no_answer', reason: 'refused' }, ['settled broken']],
  ['its backend may hang', { kind: 'no_answer', reason: 'timeout' }, ['settled unknown']],
  ['its agent is away', new Fault('The agent does not answer.'), ['settled unknown']],
])('a host is judged by who answers: %s', async (_what, kind, expected) => {
  const found = await verifyEdges(reached(kind) as Edge, books, true)
  expect(found.map(({ promise, verdict }) => `${promise} ${verdict}`)).toEqual(expected)
})

test('a host of which the zone tells nothing certain is not told as whole', async () => {
  const drift = () => Promise.reject(new Fault('127.0.0.1:53 gave no certain answer about shop.lab.test.'))
  const verification = { drift, holds: async () => 'unknown' as const, stateDir: '/nowhere' }
  expect(await verifyHosts(books, { verification })).toEqual([
    expect.objectContaining({ promise: 'whole', verdict: 'unknown' }),
  ])
})
