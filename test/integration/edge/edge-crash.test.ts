import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { nginxConfig } from '../../../lab/nginx-config.ts'
import { GATHERED_FOLDERS } from '../../../src/edge/config/gathered.ts'
import { adoptedFile, adoptedFolder, releasedFolder } from '../../../src/edge/config/layout.ts'
import { EDGE_POINTS, type Edge, type EdgeFile, type Site, type SitePair } from '../../../src/edge/contract.ts'
import { PresentGeneration } from '../../../src/edge/generations/present.ts'
import { localEdge } from '../../../src/edge/local.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type CrashImage, crashImages } from '../../support/edge/crash-images.ts'
import { certificateFor, PLAN_ID } from '../../support/edge/edge.ts'
import { configurationListing, listing, viewOf } from '../../support/edge/edge-folder.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

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

let isLoading = true
const open = (): Edge =>
  localEdge(settings, {
    nginx: {
      reload: async () => {
        if (!isLoading) throw new Error('The stand-in for nginx is not reloaded.')
      },
    },
  })
let certificate: SitePair
let edge: Edge

beforeAll(async () => {
  writeFileSync(settings.binary, '#!/bin/sh\nexit 0\n')
  chmodSync(settings.binary, 0o755)
  for (const name of ['', 'sites', 'logs']) mkdirSync(at(name), { recursive: true })
  const text = nginxConfig(edgeAt, undefined)
  writeFileSync(edgeAt.config, text.replace('include drawbridge', `include ${at('sites')}/*;\n  include drawbridge`))
  writeFileSync(at('sites', 'old'), SITE)
  writeFileSync(at('sites', 'other'), OTHER)
  certificate = await certificateFor(temp.path, [HOST, 'stays.lab.test'])
  edge = open()
  await edge.prepare()
  await change(edge, () => edge.filesFor(siteOf('stays.lab.test', 1)))
})
beforeEach(() => {
  isLoading = true
})
afterAll(() => temp[Symbol.dispose]())

const siteOf = (host: string, port: number): Site => ({
  ...{ host, planId: PLAN_ID, target: `http://127.0.0.1:${port}`, certificate, proof: 'f'.repeat(64) },
})

type Proposed = () => Promise<readonly EdgeFile[]>

/** The number grows with each change of a host: a new engine refuses a run that is older than what it finds. */
let fence = 0

async function change(on: Edge, files: Proposed, reached?: (point: string) => void): Promise<void> {
  fence += 1
  const former = numberOf()
  await on.change({
    propose: async () => {
      const wanted = await files()
      return { files: wanted, expected: await on.hashFiles(wanted.map(({ path }) => path)) }
    },
    assertHeld: () => undefined,
    fences: [{ host: HOST, epoch: 1, number: fence }],
    ...(reached && { reached }),
  })
  await until('the keys of old generations are removed', () => !hasOldKeys(former))
}

const numberOf = (): number => new PresentGeneration(edgeAt.folder).number ?? 0

/** An engine removes them when it has answered. One that is dead in the test must not do it in what was put back. */
const hasOldKeys = (former: number): boolean =>
  readdirSync(join(edgeAt.folder, 'generations')).some(
    (name) =>
      Number(name) < numberOf() &&
      Number(name) !== former &&
      existsSync(join(edgeAt.folder, 'generations', name, 'tls')),
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
  for (const kind of GATHERED_FOLDERS) expect(readdirSync(join(present, kind))).toBeInstanceOf(Array)
}

const CHANGES: Record<string, { before?: Proposed; files: Proposed; fails?: boolean }> = {
  'a new host': { files: () => edge.filesFor(siteOf(HOST, 2)) },
  'a host that moves': {
    before: () => edge.filesFor(siteOf(HOST, 2)),
    files: () => edge.filesFor(siteOf(HOST, 3)),
  },
  'a removal': { before: () => edge.filesFor(siteOf(HOST, 2)), files: () => edge.filesWithout(HOST) },
  'a host that is released': {
    before: () => edge.filesFor(siteOf(HOST, 2)),
    files: async () => [...(await edge.filesWithout(HOST)), ...(await edge.releasedFiles(HOST))],
  },
  'a site that is adopted': {
    files: async () => [
      ...(await edge.filesFor(siteOf('old.lab.test', 9))),
      ...(await edge.takenOut('old.lab.test', PLAN_ID)),
    ],
  },
  'an adopted site that is given back': {
    before: async () => [
      ...(await edge.filesFor(siteOf('old.lab.test', 9))),
      ...(await edge.takenOut('old.lab.test', PLAN_ID)),
    ],
    files: async () => [
      ...(await edge.filesWithout('old.lab.test')),
      { path: adoptedFile(PLAN_ID), content: null, secret: false },
    ],
  },
  'a change that nginx does not load': { files: () => edge.filesFor(siteOf(HOST, 2)), fails: true },
}

/** A campaign walks all moments. Here those are left out that only differ in files that nobody includes yet, and that are all removed. */
const isChosen = (moment: string): boolean =>
  process.env.CAMPAIGN !== undefined ||
  !/^\w+( \S+\/(generations\/\S+|\.engine-lock|edge\/\.drawbridge-shadow-\S+))+$/.test(moment)

/** A change of a host and a removal enter a generation as a new host does. */
const isWalked = ([name]: readonly [string, unknown]): boolean =>
  process.env.CAMPAIGN !== undefined || !['a host that moves', 'a removal'].includes(name)

describe.each(Object.entries(CHANGES).filter(isWalked))('killed in %s', (_name, { before, files, fails = false }) => {
  let images: readonly CrashImage[]
  let wanted: readonly EdgeFile[]
  let former: readonly EdgeFile[]
  let standing: Readonly<Record<'before' | 'after', ReturnType<typeof world>>>

  beforeAll(async () => {
    const folder = tempFolder()
    const [bare] = await crashImages(prefix, folder.path, async () => undefined)
    if (before) await change(edge, before)
    wanted = await files()
    former = await edge.read(wanted.map(({ path }) => path))
    const first = world()
    isLoading = !fails
    const making = (reached: (moment: string) => void) =>
      change(edge, async () => wanted, reached).catch((error: unknown) => {
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
    const ways = [
      { files: former, end: standing.before },
      { files: wanted, end: standing.after },
    ]
    for (const [at, { moment, restore }] of images.entries())
      for (const { files, end } of process.env.CAMPAIGN ? ways : ways.slice(at % 2, (at % 2) + 1)) {
        restore()
        const next = open()
        await next.prepare()
        assertWhole(moment)
        expect([standing.before.generation, standing.after.generation], moment).toContainEqual(world().generation)
        await change(next, async () => files)
        expect(world(), moment).toEqual(end)
        assertWhole(moment)
      }
  })
})
