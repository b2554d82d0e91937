import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EdgeFault } from '../../../src/edge/contract.ts'
import type { Staged } from '../../../src/edge/generations/stage.ts'
import { whenAt } from '../../support/edge/edge.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'

/** The engine of generations on a real folder, with a stand-in for nginx. */
const [A, B] = [entryOf('a.lab.test'), entryOf('b.lab.test')]
const EDITED = { ...A, content: entryOf('a.lab.test', 10).content }
const lost = () => {
  throw new Error('The lease was lost.')
}
const hostsOf = (at: TestEngine) => [...at.present.keysOf('backends')].toSorted()

/** Refuses every generation with B. */
async function refusesB({ folder, durable }: Staged) {
  await durable
  const backends = join(folder, 'backends')
  const texts = readdirSync(backends).map((file) => readFileSync(join(backends, file), 'utf8'))
  return texts.join('').includes('b.lab.test') ? { reason: 'the syntax is wrong' } : undefined
}

test('what nginx refuses does not stand, alone or among others, which do', async () => {
  using at = await startEngine({ test: refusesB })
  await expect(at.change([B])).rejects.toMatchObject({ kind: 'change_invalid' })
  expect([hostsOf(at), at.counts.reloads]).toEqual([[], 0])
  const [a, c, bad, ...more] = ['a', 'c', 'b', 'd', 'e'].map((name) => at.change([entryOf(`${name}.lab.test`)]))
  await expect(bad).rejects.toMatchObject({ kind: 'change_invalid' })
  await Promise.all([a, c, ...more])
  expect(hostsOf(at)).toEqual(['a.lab.test', 'c.lab.test', 'd.lab.test', 'e.lab.test'])
})

test('a generation whose reload is not proven is left for the former one, and its change has failed', async () => {
  let isProven = true
  using at = await startEngine({
    reload: async () => {
      if (!isProven) throw new EdgeFault('not_reloaded', 'Nothing proves the reload.')
    },
  })
  await at.change([A])
  const former = at.present.number
  isProven = false
  await expect(at.change([B])).rejects.toMatchObject({ kind: 'not_reloaded' })
  expect([at.present.number, hostsOf(at)]).toEqual([former, ['a.lab.test']])
})

test('an instance that lost the lock of the edge during its reload puts nothing back', async () => {
  let isHeld = true
  const turn = { assertHeld: () => (isHeld ? undefined : lost()) }
  using at = await startEngine({
    exclusive: (work) => work(turn),
    reload: async () => {
      isHeld = false
      throw new EdgeFault('not_reloaded', 'Nothing proves the reload.')
    },
  })
  await expect(at.change([A])).rejects.toThrow('The lease was lost.')
  expect(at.counts.reloads).toBe(1)
  expect(hostsOf(at)).toEqual(['a.lab.test'])
})

test('nothing is entered by a run that lost its lease, or an instance that lost its lock, during the test', async () => {
  let isHeld = true
  using at = await startEngine({ exclusive: (work) => work({ assertHeld: () => (isHeld ? undefined : lost()) }) })
  await expect(at.change([A], { assertHeld: lost })).rejects.toThrow('The lease was lost.')
  const letGo = whenAt('staged', () => {
    isHeld = false
  })
  await expect(at.change([A], letGo)).rejects.toThrow('The lease was lost.')
  expect([hostsOf(at), at.counts.reloads]).toEqual([[], 0])
})

test('an entry that somebody edited is not overwritten', async () => {
  using at = await startEngine()
  await at.change([A])
  const expected = [{ path: A.path, hash: null }]
  const change = at.change([EDITED], { propose: async () => ({ files: [EDITED], expected }) })
  await expect(change).rejects.toMatchObject({ kind: 'changed_meanwhile' })
  expect(at.present.content(A.path)).toBe(A.content)
})

test('a link in the place of a file is not written through, and drafts not through a link in the place of their folder', async () => {
  using at = await startEngine()
  await at.change([A])
  const { path } = at.present.whereIs('a.lab.test')
  renameSync(path, join(at.folder, 'elsewhere'))
  symlinkSync(join(at.folder, 'elsewhere'), path)
  await expect(at.change([EDITED])).rejects.toMatchObject({ kind: 'changed_meanwhile' })
  const released = `${at.folder}-released`
  mkdirSync(released)
  symlinkSync(join(at.folder, 'elsewhere'), join(released, 'b.lab.test.conf'))
  const file = { path: 'released/b.lab.test.conf', content: 'ours', secret: false }
  await expect(at.change([file])).rejects.toMatchObject({ kind: 'changed_meanwhile' })
  rmSync(join(at.folder, '.staging'), { recursive: true })
  mkdirSync(join(at.folder, 'theirs'))
  symlinkSync(join(at.folder, 'theirs'), join(at.folder, '.staging'))
  await expect(at.change([B])).rejects.toMatchObject({ kind: 'unavailable' })
  expect(readdirSync(join(at.folder, 'theirs'))).toEqual([])
})

test('a private key is not given to an nginx that would log it', async () => {
  using at = await startEngine({
    assertNoDebugLog: async () => {
      throw new EdgeFault('logs_keys', 'nginx logs at debug level.')
    },
  })
  const id = '0'.repeat(32)
  const key = { path: `tls/keys/${id}.map`, content: `${id} "a key";\n`, secret: true }
  await expect(at.change([key])).rejects.toMatchObject({ kind: 'logs_keys' })
  await at.change([A])
  expect(hostsOf(at)).toEqual(['a.lab.test'])
})

test('an edge that was never prepared is not changed', async () => {
  using at = await startEngine()
  rmSync(join(at.folder, 'generations'), { recursive: true })
  mkdirSync(join(at.folder, 'generations'))
  for (const name of readdirSync(at.folder).filter((file) => file.endsWith('.conf') || file === 'current'))
    rmSync(join(at.folder, name))
  await expect(at.change([A])).rejects.toThrow('Edge 23 is not prepared')
})
