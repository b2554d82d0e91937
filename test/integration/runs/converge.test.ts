import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AuditTrail } from '../../../src/audit/trail.ts'
import type { Edge, EdgeAnswer, EdgeFile, EdgeProposal, StandingEntry } from '../../../src/edge/contract.ts'
import { hashOf } from '../../../src/edge/files/files.ts'
import { localEdge } from '../../../src/edge/local.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import type { StrayLines } from '../../../src/model/host-status.ts'
import { receiptOf } from '../../../src/model/receipt.ts'
import type { HostFence, RunGuard } from '../../../src/model/run.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { Converge } from '../../../src/runs/converge.ts'
import { EdgeStandings } from '../../../src/runs/edge-standings.ts'
import { type Carried, Runs } from '../../../src/runs/engine/runs.ts'
import { convergeStep } from '../../../src/runs/steps/converge.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { debianSite, startOwnNginx } from '../../support/edge/own-nginx.ts'
import { appliedPlan, newRun } from '../../support/saga.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const AT = 1_000_000
const pathOf = (host: string) => `entries/${host}`
const loadPair = async () => {
  throw new Error('No host here has a certificate.')
}

/** A stand-in for an edge, which makes every change. Its entries are the ids of plans, after the text of a version. */
class FakeEdge {
  readonly server: string
  readonly texts = new Map<string, string>()
  readonly fences: HostFence[] = []
  readonly unused: EdgeFile[] = []
  /** How this version writes. */
  version = 'v1'
  /** What stands in a block of this edge alone. */
  listen = ''
  changes = 0
  readonly stray: StrayLines[] = []
  answer: EdgeAnswer = { kind: 'no_answer', reason: 'unknown_host' }
  ask: Edge['ask'] = async () => this.answer

  constructor(server: string) {
    this.server = server
  }

  put(host: string, planId: string, version = this.version): void {
    this.texts.set(pathOf(host), `${version} ${planId}${this.listen}`)
  }

  get hosts(): string[] {
    return [...this.texts.keys()].map((path) => path.slice('entries/'.length))
  }

  get edge(): Edge {
    const { server, texts } = this
    const entry = (path: string, text: string): StandingEntry => {
      const [, planId] = /^v\d (\S+)/.exec(text) ?? []
      return { host: path.slice('entries/'.length), planId, certificate: undefined, isInLayout: true }
    }
    const standIn: Partial<Edge> = {
      server,
      prepare: async () => undefined,
      assertValid: async () => undefined,
      ask: (question) => this.ask(question),
      generation: async () => String(this.changes),
      stray: async () => [...this.stray],
      listens: async () => [...this.listen.matchAll(/listen (\S+);/g)].flatMap(([, at]) => at ?? []),
      list: async () => [...texts].map(([path, text]) => entry(path, text)),
      fencesOf: async (hosts) => this.fences.filter(({ host }) => hosts.includes(host)),
      hashFiles: async (paths) => paths.map((path) => ({ path, hash: hashOf(texts.get(path) ?? null) })),
      filesFor: async ({ host, planId }) => [
        { path: pathOf(host), content: `${this.version} ${planId}${this.listen}`, secret: false },
      ],
      isCertificateFile: () => false,
      read: async (paths) => paths.map((path) => ({ path, content: texts.get(path) ?? null, secret: false })),
      filesWithout: async (host) => [{ path: pathOf(host), content: null, secret: false }],
      unusedCertificates: async () => this.unused,
      change: (proposal) => this.#change(proposal),
    }
    return standIn as Edge
  }

  async #change({ propose }: EdgeProposal): Promise<void> {
    this.changes += 1
    for (const { path, content } of (await propose()).files)
      if (content === null) this.texts.delete(path)
      else this.texts.set(path, content)
  }
}

const folders: ReturnType<typeof tempFolder>[] = []
let store: Store
let primary: FakeEdge
let secondary: FakeEdge
let standings: EdgeStandings

beforeEach(async () => {
  const folder = tempFolder()
  folders.push(folder)
  store = await openStore({ kind: 'sqlite', file: join(folder.path, 'drawbridge.db') })
  primary = new FakeEdge('23')
  secondary = new FakeEdge('73')
  standings = new EdgeStandings(() => AT)
})
afterEach(async () => {
  await store.close()
  for (const folder of folders.splice(0)) folder[Symbol.dispose]()
})

async function stepsFor({ run, task }: Carried, guard: RunGuard) {
  const isPrimary = task.edge === primary.server
  const members = (await store.exposuresOf(run.runId)).flatMap(({ host, planId, receipt }) =>
    receipt ? [{ host, planId, receipt }] : [],
  )
  return [
    convergeStep({
      ...{ isPrimary, members, removes: task.removes, guard, pairOf: loadPair },
      edge: (isPrimary ? primary : secondary).edge,
      isAlone: async () => true,
      findPlan: (planId) => store.findPlan(planId),
      reached: () => undefined,
    }),
  ]
}

function newConverge(): Converge {
  const common = { store, log: createLog('silent', []), instance: 'me', clock: { ...systemClock, now: () => AT } }
  const runs = new Runs({
    ...{ ...common, stepsFor, trail: new AuditTrail(store), leaseMs: 30_000 },
    raiseFences: async () => undefined,
    renewedFiles: () => (_host, former) => former,
    crashPoint: () => undefined,
    publish: (_host, commit) => commit(),
  })
  const edges = { primary: primary.edge, secondary: secondary.edge }
  const placeOf = (server: string) => `192.168.45.${server}:80`
  return new Converge({ ...common, ...edges, runs, standings, loadPair, placeOf })
}

/** One look at both edges. Resolves with why the Secondary is not in step. */
async function look(converge = newConverge()): Promise<string | undefined> {
  await converge.look()
  return standings.of('73')?.outOfStep?.cause
}

/** An exposure that was applied to the Primary as version 1 writes it. */
async function exposed(): Promise<Plan> {
  const plan = await appliedPlan(store, AT)
  primary.put(plan.host, plan.planId, 'v1')
  primary.fences.push({ host: plan.host, epoch: await store.epoch(), number: 1 })
  const files = await primary.edge.hashFiles([pathOf(plan.host)])
  await store.setExposureReceipt(plan.host, plan.planId, receiptOf({ proxy: { files } }), 1)
  return plan
}

/** A host that a run has removed, and that the Secondary still has. `epoch`: of the fence that the Primary has. */
async function removed(epoch?: number): Promise<string> {
  const { runId, planId, host } = await newRun(store, 'remove')
  await store.finishRun(runId, 'succeeded', AT, 1)
  await store.movePlan(planId, ['removing'], 'removed')
  secondary.put(host, planId)
  if (epoch !== undefined) primary.fences.push({ host, epoch, number: 1 })
  return host
}

const several = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make))

test('lines of no host are told of their edge while they are there, also when nothing else has changed', async () => {
  await exposed()
  const converge = newConverge()
  for (let looks = 0; looks < 3; looks += 1) await look(converge)
  const stray = { file: 'current/backends/12.map', lines: [4] }
  for (const expected of [[stray], []]) {
    primary.stray.splice(0, 1, ...expected)
    expect(await look(converge)).toBeUndefined()
    expect(standings.all.map((edge) => edge.stray)).toEqual([expected, []])
  }
  expect(primary.changes).toBe(0)
})

describe('the Secondary', () => {
  test('gets what it missed, and loses every host that a run of this store has removed', async () => {
    const { host } = await exposed()
    const epoch = await store.epoch()
    await several(5, () => removed(epoch))
    expect(await look()).toBeUndefined()
    expect(secondary.hosts).toEqual([host])
  })

  test.each([
    ['where no run proves it', undefined],
    ['by the fences of another store', 1],
  ])('loses few hosts by itself %s, and many only by a person', async (_, epoch) => {
    const [few, many] = [3, 4]
    await several(few, () => removed(epoch))
    expect([await look(), secondary.hosts]).toEqual([undefined, []])
    const hosts = await several(many, () => removed(epoch))
    expect(await look()).toBe('removal_refused')
    expect(secondary.hosts.toSorted()).toEqual(hosts.toSorted())
  })

  test('keeps hosts that the store does not know, and entries that others wrote', async () => {
    const { host } = await exposed()
    secondary.put('theirs.lab.test', 'plan_of_another_store')
    secondary.texts.set(pathOf(host), 'edited by hand')
    expect(await look()).toBeUndefined()
    expect(secondary.changes).toBe(0)
    expect(standings.of('73')?.unknown).toEqual(['theirs.lab.test'])
  })

  test('is left alone where a run changes the host', async () => {
    const { host, planId } = await exposed()
    await store.claimExposure(host, planId, 'run_of_another', 1)
    expect(await look()).toBeUndefined()
    expect(secondary.changes).toBe(0)
  })

  test.each<[string, EdgeAnswer]>([
    ['nginx does not answer', { kind: 'no_answer', reason: 'refused' }],
    ['another program answers', { kind: 'answer', httpStatus: 200, latencyMs: 1 }],
  ])('is waited for while %s', async (_, answer) => {
    const { host } = await exposed()
    secondary.answer = answer
    expect([await look(), secondary.changes]).toEqual(['away', 0])
    secondary.answer = { kind: 'no_answer', reason: 'unknown_host' }
    expect([await look(), secondary.hosts]).toEqual([undefined, [host]])
  })

  test('is in step beside the default site of Debian, and is told apart from it', async () => {
    await using own = await startOwnNginx((at) => ({ 'sites-enabled/default': debianSite(at) }))
    const edge = localEdge(own)
    secondary.ask = edge.ask
    const { host } = await exposed()
    expect([await look(), secondary.hosts]).toEqual(['away', []])
    expect(standings.of('73')?.outOfStep?.sentence).toBe(
      'The default server of 192.168.45.73:80 answered in place of Drawbridge.',
    )
    expect(standings.warnings.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^Edge 73 cannot be brought into step with the store \(away\)/),
    ])
    await edge.prepare()
    expect([await look(), secondary.hosts, standings.warnings]).toEqual([undefined, [host], []])
  })

  test('keeps unused pairs while a run is unfinished that may need them again', async () => {
    await removed(await store.epoch())
    await look()
    secondary.unused.push({ path: 'tls/certificates/unused.map', content: null, secret: false })
    const before = secondary.changes
    const { runId } = await newRun(store, 'apply')
    await look()
    expect(secondary.changes).toBe(before)
    await store.finishRun(runId, 'rolled_back', AT, 1)
    await store.movePlan(runId.replace('run_', 'plan_'), ['applying'], 'rolled_back')
    await look()
    expect(secondary.changes).toBe(before + 1)
  })
})

test('a new version writes the entries of the Primary again, without those that somebody edited', async () => {
  const [ours, edited] = [await exposed(), await exposed()]
  primary.texts.set(pathOf(edited.host), 'edited by hand')
  primary.version = 'v2'
  await look()
  expect(primary.texts.get(pathOf(ours.host))).toBe(`v2 ${ours.planId}`)
  expect(primary.texts.get(pathOf(edited.host))).toBe('edited by hand')
})

test('what is written again on the Primary, as after a rebuild, is written again on the Secondary, unless somebody edited it there', async () => {
  for (const edge of [primary, secondary]) edge.listen = `\n  listen 192.168.45.${edge.server}:80;\n  proxied`
  const [ours, edited, opened] = [await exposed(), await exposed(), await exposed()]
  for (const { host, planId } of [ours, edited, opened]) secondary.put(host, planId)
  const byHand = `${secondary.texts.get(pathOf(edited.host))} by hand`
  secondary.texts.set(pathOf(edited.host), byHand)
  const furtherPort = `${secondary.texts.get(pathOf(opened.host))}`.replace(
    '  listen',
    '  listen 10.0.0.1:8443 ssl;\n  listen',
  )
  secondary.texts.set(pathOf(opened.host), furtherPort)
  for (const edge of [primary, secondary]) edge.version = 'v2'
  await look()
  expect(primary.texts.get(pathOf(ours.host))).toBe(`v2 ${ours.planId}${primary.listen}`)
  expect(secondary.texts.get(pathOf(ours.host))).toBe(`v2 ${ours.planId}${secondary.listen}`)
  expect(secondary.texts.get(pathOf(edited.host))).toBe(byHand)
  expect(secondary.texts.get(pathOf(opened.host))).toBe(furtherPort)
})

test('a run removes no host but those that it was told to', async () => {
  for (const host of ['told.lab.test', 'other.lab.test']) secondary.put(host, 'plan_1')
  const fences = secondary.hosts.map((host) => ({ host, epoch: 1, number: 1 }))
  const guard = {
    assertHeld: () => undefined,
    ensureHeld: async () => undefined,
    leftMs: 1,
    fences,
    signal: new AbortController().signal,
  }
  const step = convergeStep({
    ...{ edge: secondary.edge, isPrimary: false, members: [], removes: ['told.lab.test'], guard, pairOf: loadPair },
    isAlone: async () => true,
    findPlan: async () => undefined,
    reached: () => undefined,
  })
  await step.do(null, {}, async () => undefined)
  expect(secondary.hosts).toEqual(['other.lab.test'])
})
