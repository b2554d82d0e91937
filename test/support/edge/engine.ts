import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDERS } from '../../../src/edge/config/layout.ts'
import type { EdgeFile, EdgeProposal } from '../../../src/edge/contract.ts'
import { Fences } from '../../../src/edge/files/fences.ts'
import { hashOfFound } from '../../../src/edge/files/files.ts'
import { replaceFiles } from '../../../src/edge/files/replace.ts'
import { type EngineParts, GenerationEngine } from '../../../src/edge/generations/engine.ts'
import { PresentGeneration } from '../../../src/edge/generations/present.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../temp-folder.ts'

/** The engine of generations on a real folder, with an nginx that takes everything and is always well. */
export async function startEngine(parts: Partial<EngineParts> = {}) {
  const temp = tempFolder()
  const folder = join(temp.path, 'edge')
  for (const { path } of FOLDERS) mkdirSync(join(folder, path), { recursive: true })
  const present = new PresentGeneration(folder)
  const counts = { tests: 0, reloads: 0 }
  const engine = new GenerationEngine({
    folder,
    server: '23',
    clock: systemClock,
    present,
    fences: new Fences(folder, systemClock),
    exclusive: (work) => work({ assertHeld: () => undefined }),
    base: ({ number }) => `# Made by Drawbridge: generation ${number}. Of a test.\n`,
    isSameBase: () => false,
    refused: () => {
      throw new Error('The base file was refused.')
    },
    assertValid: async () => undefined,
    assertNoDebugLog: async () => undefined,
    installReleased: (files) => replaceFiles(folder, files),
    prepareSites: async () => ({ takeOut: () => undefined, takeBack: () => undefined, keep: () => undefined }),
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
  await engine.refresh({ files: [], others: new Map(), isUpToDate: () => true }, false)
  counts.tests = 0
  const proposal = (files: readonly EdgeFile[], more: Partial<EdgeProposal> = {}): EdgeProposal => ({
    propose: async () => ({ files, expected: files.map(({ path }) => hashOfFound(path, present.look(path))) }),
    assertHeld: () => undefined,
    ...more,
  })
  return {
    engine,
    folder,
    present,
    counts,
    change: (files: readonly EdgeFile[], more?: Partial<EdgeProposal>) => engine.change(proposal(files, more)),
    generations: () =>
      readdirSync(join(folder, 'generations'))
        .map(Number)
        .toSorted((a, b) => a - b),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  }
}
export type TestEngine = Awaited<ReturnType<typeof startEngine>>

/** An entry as lines. */
export const entryOf = (host: string, port = 9): EdgeFile => ({
  path: `entries/${host}`,
  content: `http server_name ${host};\nbackend ${host} http://127.0.0.1:${port};\n`,
  secret: false,
})
