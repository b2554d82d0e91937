import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { nginxConfig } from '../../../lab/nginx-config.ts'
import { type ChangeItem, EDGE_POINTS } from '../../../src/edge/contract/change.ts'
import type { Edge } from '../../../src/edge/contract/edge.ts'
import type { Entry } from '../../../src/edge/record/entry.ts'
import { adoptedFolder, releasedFolder } from '../../../src/estate/layout.ts'
import { SHARD_FOLDERS } from '../../../src/nginx/config/shards.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { certificateFor, changeHost, entryOf, PLAN_ID, type TestPair } from '../../support/edge/edge.ts'
import { configurationListing, listing, viewOf } from '../../support/edge/edge-folder.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'
import { type CrashImage, crashImages } from './crash-images.ts'

// A campaign walks every moment of a change in one test.
if (process.env.CAMPAIGN) vi.setConfig({ testTimeout: 900_000 })

/**
 * The process that changes an edge dies at every point of the engine and before each call that changes the disk. A new engine on
 * what is left finds the former or the new generation, whole, and can put the change back or make it again. The files are real; the
 * program nginx is a stand-in that takes every configuration and is reloaded when it is told so.
 */
const temp = tempFolder()
const prefix = join(temp.path, 'edge')
const at = (...parts: string[]) => join(prefix, ...parts)
const edgeAt = {
  ...{ server: '23', prefix, config: at('nginx.conf'), folder: at('drawbridge'), pidFile: at('nginx.pid') },
  ...{ errorLog: at('error.log'), address: '127.0.0.1', http: 8080, https: 8443, hosts: at('drawbridge/current') },
}
const settings = {
  ...{ ...edgeAt, binary: join(temp.path, 'stand-in-for-nginx'), listen: ['127.0.0.1'] },
  ports: { http: 8080, https: 8443 },
  clock: systemClock,
}
const SITE =
  'server { listen 127.0.0.1:8080; server_name old.lab.test; location / { proxy_pass http://127.0.0.1:9; } }\n'
const OTHER = 'server { listen 127.0.0.1:8080; server_name other.lab.test; return 204; }\n'
const HOST = 'new.lab.test'
const ADOPTED = 'old.lab.test'

let isLoading = true
const open = (): Edge =>
  localEdge(settings, {
    nginx: {
      reload: async () => {
        if (!isLoading) throw new Error('The stand-in for nginx is not reloaded.')
      },
    },
  })
let certificate: TestPair
let edge: Edge

beforeAll(async () => {
  writeFileSync(settings.binary, '#!/bin/sh\nexit 0\n')
  chmodSync(settings.binary, 0o755)
  for (const name of ['', 'sites', 'logs']) mkdirSync(at(name), { recursive: true })
  const text = nginxConfig(edgeAt, undefined)
  writeFileSync(edgeAt.config, text.replace('include drawbridge', `include ${at('sites')}/*;\n  include drawbridge`))
  writeFileSync(at('sites', 'old'), SITE)
  writeFileSync(at('sites', 'other'), OTHER)
  certificate = await certificateFor(temp.path, [HOST, ADOPTED, 'stays.lab.test'])
  edge = open()
  await edge.prepare()
  await edge.certificate(certificate)
  await change(edge, { host: 'stays.lab.test', wanted: () => entryAt('stays.lab.test', 1) })
})
beforeEach(() => {
  isLoading = true
})
afterAll(() => temp[Symbol.dispose]())

const entryAt = (host: string, port: number): Entry =>
  entryOf({ host, planId: PLAN_ID, target: `http://127.0.0.1:${port}`, certificate, proof: 'f'.repeat(64) })

/** What a change does to one host. `run`: the one that makes it, and that may put back what stood before. */
interface Made extends Pick<ChangeItem, 'host' | 'takesOver'> {
  readonly wanted: () => ChangeItem['wanted']
  readonly run?: string
}

/** The number grows with each change of a host: a new engine refuses a run that is older than what it finds. */
let fence = 0

async function change(
  on: Edge,
  { host, wanted, takesOver, run }: Made,
  onCrashPoint?: (point: string) => void,
): Promise<void> {
  fence += 1
  const former = numberOf()
  await changeHost(on, host, wanted(), {
    ...{ fence: { host, epoch: 1, number: fence }, takesOver },
    ...(run !== undefined && { run }),
    ...(onCrashPoint && { onCrashPoint }),
  })
  if (numberOf() !== former) await until('the keys of old generations are removed', () => !hasOldKeys(former))
}

const numberOf = (): number => new PresentGeneration(edgeAt.folder).number ?? 0

const KEY_FOLDERS = SHARD_FOLDERS.filter((kind) => kind.startsWith('tls/keys-'))

/** An engine removes them when it has answered. One that is dead in the test must not do it in what was put back. */
const hasOldKeys = (former: number): boolean =>
  readdirSync(join(edgeAt.folder, 'generations')).some(
    (name) =>
      Number(name) < numberOf() &&
      Number(name) !== former &&
      KEY_FOLDERS.some((keys) => existsSync(join(edgeAt.folder, 'generations', name, keys))),
  )

const below = (folder: string): string[] => (existsSync(folder) ? listing(folder) : [])

/** Everything that a change may change, without the numbers of generations. */
const world = () => ({
  generation: configurationListing(edgeAt.folder),
  released: below(releasedFolder(edgeAt.folder)),
  adopted: below(adoptedFolder(edgeAt.folder)),
  sites: listing(at('sites')),
})

/** Every file that the base file names stands there, and its folders are all there. */
function assertWhole(moment: string): void {
  const base = readFileSync(join(edgeAt.folder, 'drawbridge.conf'), 'utf8')
  const { present, leftOvers } = viewOf(edgeAt)
  expect(leftOvers, moment).toEqual([])
  expect(base, moment).toBe(readFileSync(join(present, 'drawbridge.conf'), 'utf8'))
  for (const kind of SHARD_FOLDERS) expect(readdirSync(join(present, kind))).toBeInstanceOf(Array)
}

const RUN = 'run_a1'
const placed: Made = { host: HOST, wanted: () => entryAt(HOST, 2) }
const adopted: Made = { host: ADOPTED, wanted: () => entryAt(ADOPTED, 9), takesOver: { plan: PLAN_ID }, run: RUN }

const CHANGES: Record<string, { before?: Made; made: Made; fails?: boolean }> = {
  'a new host': { made: { ...placed, run: RUN } },
  'a host that moves': { before: placed, made: { host: HOST, wanted: () => entryAt(HOST, 3), run: RUN } },
  'a removal': { before: placed, made: { host: HOST, wanted: () => 'absent', run: RUN } },
  'a host that is released': {
    before: placed,
    made: { host: HOST, wanted: () => (isServed(HOST) ? 'released' : 'absent'), run: RUN },
  },
  'a site that is adopted': { made: adopted },
  'an adopted site that is given back': { before: adopted, made: { ...adopted, wanted: () => 'before' } },
  'a change that nginx does not load': { made: { ...placed, run: RUN }, fails: true },
}

const isServed = (host: string): boolean => new PresentGeneration(edgeAt.folder).find(host) !== undefined

/** A campaign walks all moments. Here those are left out that only differ in files that nobody includes yet, and that are all removed. */
const isChosen = (moment: string): boolean =>
  process.env.CAMPAIGN !== undefined ||
  !/^\w+( \S+\/(generations\/\S+|\.engine-lock|edge\/\.drawbridge-shadow-\S+))+$/.test(moment)

/** A change of a host and a removal enter a generation as a new host does. */
const isWalked = ([name]: readonly [string, unknown]): boolean =>
  process.env.CAMPAIGN !== undefined || !['a host that moves', 'a removal'].includes(name)

describe.each(Object.entries(CHANGES).filter(isWalked))('killed in %s', (_name, { before, made, fails = false }) => {
  let images: readonly CrashImage[]
  let standing: Readonly<Record<'before' | 'after', ReturnType<typeof world>>>

  beforeAll(async () => {
    const folder = tempFolder()
    const [bare] = await crashImages(prefix, folder.path, async () => undefined)
    if (before) await change(edge, before)
    const first = world()
    isLoading = !fails
    const making = (onCrashPoint: (moment: string) => void) =>
      change(edge, made, onCrashPoint).catch((error: unknown) => {
        if (!fails) throw error
      })
    images = await crashImages(prefix, join(folder.path, 'images'), making, isChosen)
    isLoading = true
    const last = world()
    if (fails) expect(last).toEqual(first)
    if (fails) images.find(({ moment }) => moment === 'swapped')?.restore()
    standing = { before: first, after: world() }
    return async () => {
      bare?.restore()
      edge = open()
      await edge.prepare()
      folder[Symbol.dispose]()
    }
  })

  test('the walk passes every point of the engine', () => {
    const passed = images.map(({ moment }) => moment)
    expect(passed).toEqual(expect.arrayContaining(EDGE_POINTS.filter((point) => !fails || point !== 'reloaded')))
    expect(passed.length).toBeGreaterThan(10)
    expect(standing.after).not.toEqual(standing.before)
  })

  /** Both ways back are walked in a campaign, and here by turns. */
  test('the former or the new generation is left, whole, and the change can be put back or made again', async () => {
    const putBack: Made = { ...made, wanted: () => 'before' }
    const ways = [
      // Where the change puts back, that is made again, and nothing is put back.
      ...(made.wanted() === 'before' ? [] : [{ next: putBack, end: standing.before }]),
      { next: made, end: standing.after },
    ]
    for (const [at, { moment, restore }] of images.entries())
      for (const { next, end } of process.env.CAMPAIGN ? ways : ways.filter((_, way) => way === at % ways.length)) {
        restore()
        const engine = open()
        await engine.prepare()
        assertWhole(moment)
        expect([standing.before.generation, standing.after.generation], moment).toContainEqual(world().generation)
        await change(engine, next)
        expect(world(), moment).toEqual(end)
        assertWhole(moment)
      }
  })
})
