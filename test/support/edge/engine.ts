import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type EngineParts, GenerationEngine } from '../../../src/edge/engine/engine.ts'
import { Fences } from '../../../src/edge/fences/fences.ts'
import { FOLDERS } from '../../../src/edge/layout.ts'
import type { Entry } from '../../../src/edge/record/entry.ts'
import type { OutsideFile } from '../../../src/estate/layout.ts'
import { replaceFiles } from '../../../src/nginx/files/replace.ts'
import { NginxServer, type NginxServerParts } from '../../../src/nginx/generations/nginx-server.ts'
import { Pairs } from '../../../src/nginx/generations/pairs.ts'
import { PresentGeneration } from '../../../src/nginx/generations/present.ts'
import type { Standing } from '../../../src/nginx/generations/standing.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../temp-folder.ts'
import { certificateFor, changeHost, entryOf as entryOfSite, type More, PLAN_ID } from './edge.ts'

type TestParts = Partial<NginxServerParts & Pick<EngineParts<Standing, OutsideFile>, 'own'>>

/** The engine of generations on a real folder, with an nginx that takes everything and is always well. */
export async function startEngine({ own, ...parts }: TestParts = {}) {
  const temp = tempFolder()
  const folder = join(temp.path, 'edge')
  for (const { path } of FOLDERS) mkdirSync(join(folder, path), { recursive: true })
  const present = new PresentGeneration(folder)
  const counts = { tests: 0, reloads: 0 }
  const pairs = new Pairs(folder, (parts.clock ?? systemClock).now)
  const web = new NginxServer({
    folder,
    server: '23',
    clock: systemClock,
    present,
    pairs,
    listening: async () => ({ listen: ['127.0.0.1'], ports: { http: 80, https: 443 } }),
    base: ({ number }) => `# Made by Drawbridge: generation ${number}. Of a test.\n`,
    isSameBase: () => false,
    refused: () => {
      throw new Error('The base file was refused.')
    },
    assertValid: async () => undefined,
    assertNoDebugLog: async () => undefined,
    released: {
      of: () => [],
      undo: () => [],
      note: async () => undefined,
      install: (files) => replaceFiles(folder, files),
      placeOf: (host) => host,
    },
    sites: {
      record: () => undefined,
      putBack: ({ plan }) => ({ path: `adopted/${plan}`, content: null, secret: false }),
      prepare: async () => ({ takeOut: () => undefined, takeBack: () => undefined, keep: () => undefined }),
    },
    ...parts,
    test: async (...given) => {
      counts.tests += 1
      return parts.test?.(...given)
    },
    reload: async () => {
      counts.reloads += 1
      await parts.reload?.()
    },
  })
  const engine = new GenerationEngine({
    ...{ folder, web, own },
    server: '23',
    clock: parts.clock ?? systemClock,
    fences: new Fences(folder, systemClock),
  })
  await engine.refresh(false)
  counts.tests = 0
  return {
    engine,
    folder,
    present,
    counts,
    pairs,
    /** Gives it a certificate for this name. Resolves with its id. */
    certificate: async (name: string) => pairs.put(await certificateFor(temp.path, [name])),
    /** Makes the engine serve an entry. Throws what it refuses. */
    place: (entry: Entry, more?: More) => changeHost(engine, entry.host, entry, more),
    remove: (host: string, more?: More) => changeHost(engine, host, 'absent', more),
    generations: () =>
      readdirSync(join(folder, 'generations'))
        .map(Number)
        .toSorted((a, b) => a - b),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  }
}
export type TestEngine = Awaited<ReturnType<typeof startEngine>>

/** An entry as lines. */
export const entryOf = (host: string, port = 9): Entry =>
  entryOfSite({ host, planId: PLAN_ID, target: `http://127.0.0.1:${port}`, proof: '0'.repeat(64) })
