import { expect, test } from 'vitest'
import type { DnsOutcome, DnsReader } from '../../../src/dns/contract.ts'
import { readSets } from '../../../src/dns/read-back.ts'
import { Fault } from '../../../src/model/errors.ts'

const HOST = 'app.lab.test'
const NOTHING = { kind: 'answer', rcode: 'NXDOMAIN', authoritative: true, recursionAvailable: false } as const

/** A stand-in that answers one question with `outcome`, and all others with NXDOMAIN. */
const readerWith = (type: string, outcome: DnsOutcome): DnsReader => ({
  server: 'stand-in',
  ask: async (questions) =>
    questions.map((question) =>
      question.name === HOST && question.type === type ? outcome : { ...NOTHING, answers: [], authority: [] },
    ),
})

const textAnswer = (...octets: number[]): DnsOutcome => ({
  ...NOTHING,
  rcode: 'NOERROR',
  answers: [{ owner: HOST, type: 'TXT', ttl: 60, rdata: Buffer.from(octets) }],
  authority: [],
})

test.each<[string, DnsOutcome]>([
  ['no answer', { kind: 'no_answer', reason: 'timeout' }],
  ['an answer without authority', { ...NOTHING, authoritative: false, answers: [], authority: [] }],
  ['a server failure', { ...NOTHING, rcode: 'SERVFAIL', answers: [], authority: [] }],
])('what stands at a name is unknown after %s to one question', async (_, outcome) => {
  for (const type of ['A', 'AAAA', 'CNAME', 'TXT'])
    expect(await readSets(readerWith(type, outcome), [HOST])).toBe('unknown')
})

test('a record that Drawbridge would write in other octets is refused by name', async () => {
  expect(await readSets(readerWith('TXT', textAnswer(2, 97, 98)), [HOST])).toEqual([
    { name: HOST, type: 'TXT', ttl: 60, value: 'ab' },
  ])
  const reading = readSets(readerWith('TXT', textAnswer(1, 97, 1, 98)), [HOST])
  await expect(reading).rejects.toThrow(Fault)
  await expect(reading).rejects.toThrow(`${HOST} has a TXT record`)
})
