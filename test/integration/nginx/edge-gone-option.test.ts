import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { NONE_NAMED } from '../../../src/estate/settings.ts'
import { shardOf } from '../../../src/nginx/config/shards.ts'
import { changeHost } from '../../support/edge/edge.ts'
import { entryOf, startEngine, type TestEngine } from '../../support/edge/engine.ts'
import { nextTurn } from '../../support/stall.ts'

/** A host whose options name a file that the configuration of the edge names no more, and one in the same files. */
const HOST = 'a.lab.test'
const NEIGHBOUR =
  Array.from({ length: 1_000 }, (_, at) => `n${at}.lab.test`).find((host) => shardOf(host) === shardOf(HOST)) ?? ''
const ENTRY = { ...entryOf(HOST), options: { basicAuth: 'team' } }

async function startNaming() {
  let passwords: Record<string, string> = { team: '/etc/nginx/team' }
  const at = await startEngine({
    listening: async () => ({
      ...{ listen: ['127.0.0.1'], ports: { http: 80, https: 443 } },
      named: { ...NONE_NAMED, passwords },
    }),
  })
  return Object.assign(at, { forgetTeam: () => (passwords = {}) })
}

const textOf = (at: TestEngine) => readFileSync(at.present.whereIs(HOST).file, 'utf8')

/** Somebody names another file of passwords. */
async function edit(at: TestEngine): Promise<void> {
  writeFileSync(at.present.whereIs(HOST).file, textOf(at).replace('/etc/nginx/team', '/etc/nginx/other'))
  await nextTurn()
}

test('an edited one is in the way of no change of its neighbours, and stays as it is', async () => {
  using at = await startNaming()
  await at.place(ENTRY)
  await at.place({ ...entryOf(NEIGHBOUR), options: { maxBody: '1m' } })
  await edit(at)
  const edited = textOf(at)
  at.forgetTeam()
  const run = 'run_a1'
  await Promise.all([at.place(entryOf(NEIGHBOUR), { run }), at.place(entryOf('b.lab.test'))])
  expect(at.present.find(NEIGHBOUR)).toMatchObject({ entry: entryOf(NEIGHBOUR), isEdited: false })
  await changeHost(at.engine, NEIGHBOUR, 'before', { run })
  expect(textOf(at)).toBe(edited)
  await at.remove(NEIGHBOUR)
  expect([...at.present.all()].map(({ host, isEdited }) => [host, isEdited])).toEqual([
    [HOST, true],
    ['b.lab.test', false],
  ])
  await expect(at.remove(HOST)).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  await at.remove(HOST, { mend: true })
  expect(at.present.find(HOST)).toBeUndefined()
})

test('an edited one gets its next certificate', async () => {
  using at = await startNaming()
  const [first, next] = [await at.certificate(HOST), await at.certificate(HOST)]
  await at.place({ ...ENTRY, certificate: first })
  await edit(at)
  at.forgetTeam()
  const isNamed = expect.objectContaining({ kind: 'change_invalid' })
  await expect(at.place(ENTRY, { mend: true })).rejects.toEqual(isNamed)
  await at.place({ ...ENTRY, certificate: next })
  expect(at.present.find(HOST)).toMatchObject({ entry: { certificate: next }, isEdited: true })
  expect(at.present.find(HOST)?.parts.get('tls/hosts')).toBe(`${HOST} ${next};\n`)
})

test('one that a run has removed is put back as it stood, and the changes beside it are made', async () => {
  using at = await startNaming()
  await at.place(ENTRY)
  const before = at.present.find(HOST)
  const run = 'run_a1'
  await at.remove(HOST, { run })
  at.forgetTeam()
  await Promise.all([changeHost(at.engine, HOST, 'before', { run }), at.place(entryOf('b.lab.test'))])
  expect(at.present.find(HOST)).toEqual(before)
  expect(at.present.find('b.lab.test')).toBeDefined()
})
