import { expect, test } from 'vitest'
import { differences, type SeenEntry, type SeenExposure, secondaryDifferences } from '../../../src/diagnose/drift.ts'
import type { Receipt } from '../../../src/model/receipt.ts'

const record = { name: 'app.lab.test', type: 'A', ttl: 60, value: '192.0.2.1' } as const
const mark = { name: '_drawbridge.app.lab.test', type: 'TXT', ttl: 60, value: 'drawbridge plan_1' } as const
const receipt: Receipt = { version: 2, records: [record, mark] }
const SHOWN = { fingerprint: 'F1', names: ['app.lab.test'], notAfter: 0 }
const APPLIED = { plan: 'plan_1', certificate: 'a'.repeat(32), shown: SHOWN }
const PLACE = { file: '/edge/backends/07.map', line: 3 }
const AT = { ...PLACE, path: PLACE.file }
const ENTRY: SeenEntry = { server: '23', ...PLACE, ...APPLIED, drift: [] }
const AS_APPLIED: SeenExposure = { entry: ENTRY, records: receipt.records, served: undefined, isInStock: true }
const differing = (seen: Partial<SeenExposure>, of = receipt) =>
  differences({ host: 'app.lab.test', receipt: of, records: of.records, entry: APPLIED }, { ...AS_APPLIED, ...seen })

test('what is as it was applied has no difference', () => expect(differing({})).toEqual([]))

test('an entry that is missing need not be overwritten, and neither need what is missing of it', () => {
  const gone = { ...ENTRY, plan: null, certificate: null, line: null }
  const missing = { expected: 'plan_1', found: 'missing', overwrite: false, file: PLACE.file, path: PLACE.file }
  expect(differing({ entry: gone })).toEqual([{ part: 'entry', field: 'entry', ...missing }])
  const partly = { ...ENTRY, drift: [{ field: 'certificate', found: 'missing', ...PLACE, line: null }] }
  const lost = { ...missing, expected: 'as applied' }
  expect(differing({ entry: partly })).toEqual([{ part: 'certificate', field: 'certificate', ...lost }])
})

test('what somebody edited must be overwritten, and is named with its place and, where it can be told, its value', () => {
  const values = { expected: 'http://192.0.2.1:1', found: 'http://192.0.2.9:9' }
  const drift = [
    { field: 'backend', ...values, ...PLACE },
    { field: 'certificate', file: '/edge/tls/07.map', line: 2 },
  ]
  expect(differing({ entry: { ...ENTRY, drift } })).toEqual([
    { part: 'entry', field: 'backend', ...AT, ...values, overwrite: true },
    {
      ...{ part: 'certificate', field: 'certificate', file: '/edge/tls/07.map', line: 2, path: '/edge/tls/07.map' },
      ...{ expected: 'as applied', found: 'edited', overwrite: true },
    },
  ])
})

test('lines, time and reach are told in words, and no id of a certificate is', () => {
  const also = { alsoTouches: ['b.lab.test'], alsoTouchesMore: 3 }
  const block = { field: 'block', added: 2, absent: 1, since: 0, ...also, ...PLACE }
  const pem = { field: 'certificate', expected: APPLIED.certificate, found: 'b'.repeat(32), ...PLACE }
  expect(differing({ entry: { ...ENTRY, drift: [block, pem] } })).toMatchObject([
    {
      ...{ field: 'block', expected: 'as applied', overwrite: true, since: '1970-01-01T00:00:00.000Z' },
      ...{ found: '2 lines that belong to no option, 1 line is missing', ...also },
    },
    { expected: 'for app.lab.test, valid until 1970-01-01', found: 'another certificate' },
  ])
})

test('an entry whose record nobody can read is an edit, and not a missing one', () => {
  const unreadable = { ...ENTRY, plan: null, certificate: null, drift: [{ field: 'record', ...PLACE }] }
  expect(differing({ entry: unreadable })).toMatchObject([{ part: 'entry', found: 'edited', overwrite: true }])
})

test('the entry of another plan must be overwritten, another certificate of the same plan need not be', () => {
  expect(differing({ entry: { ...ENTRY, plan: 'plan_2' } })).toEqual([
    { part: 'entry', field: 'entry', ...AT, expected: 'plan_1', found: 'plan_2', overwrite: true },
  ])
  const none = { expected: 'for app.lab.test, valid until 1970-01-01', found: 'none', overwrite: false }
  const certificate = { part: 'certificate', field: 'certificate', ...AT }
  expect(differing({ entry: { ...ENTRY, certificate: null } })).toEqual([{ ...certificate, ...none }])
})

test('a file of another user is a difference that overwrites nothing', () => {
  const drift = [{ field: 'owner', expected: 'Drawbridge', found: 'user-id-1', ...PLACE }]
  expect(differing({ entry: { ...ENTRY, drift } })).toMatchObject([{ part: 'entry', field: 'owner', overwrite: false }])
})

test('an edge that was not asked has no difference, and one of the Secondary is told with its server', () => {
  expect(differing({ entry: undefined })).toEqual([])
  const seen = { ...ENTRY, server: '73', plan: null, certificate: null }
  expect(secondaryDifferences(seen, APPLIED)).toMatchObject([{ server: '73', found: 'missing' }])
})

test('words of an edge are shown escaped', () => {
  const drift = [{ field: 'backend', expected: 'a', found: '\u001b[2J', file: '/edge/\u001b', line: null }]
  const [shown] = differing({ entry: { ...ENTRY, drift } })
  expect(`${shown?.path} ${shown?.found}`).not.toContain('\u001b')
})

test('records and the owner mark are told apart, with what was found', () =>
  expect(differing({ records: [{ ...record, value: '192.0.2.9' }] })).toEqual([
    { part: 'record', field: 'app.lab.test A', expected: '192.0.2.1', found: '192.0.2.9', overwrite: true },
    { part: 'mark', field: `${mark.name} TXT`, expected: mark.value, found: 'missing', overwrite: false },
  ]))

test.each([
  ['a further value', [record, { ...record, value: '192.0.2.9' }, mark], ['192.0.2.1', '192.0.2.1, 192.0.2.9', true]],
  ['an alias in its place', [{ ...record, type: 'CNAME', value: 'x.test' }, mark], ['192.0.2.1', 'missing', false]],
  ['a further type', [record, { ...record, type: 'AAAA', value: '2001:db8::9' }, mark], ['none', '2001:db8::9', true]],
  ['a mark of others', [record, { ...mark, value: 'Ignore all rules' }], [mark.value, 'another value', true]],
  ['names of others', [record, { ...record, type: 'CNAME', value: 'a b' }, mark], ['none', '"a b"', true]],
] as const)('records of others are named: %s', (_, records, expected) => {
  const [first] = differing({ records })
  expect([first?.expected, first?.found, first?.overwrite]).toEqual(expected)
})

test('an alias in place of an address is also what a repair would overwrite', () => {
  const alias = { ...record, type: 'CNAME', value: 'x.test' } as const
  expect(differing({ records: [alias, mark] })).toMatchObject([
    { field: 'app.lab.test A', overwrite: false },
    { field: 'app.lab.test CNAME', expected: 'none', found: 'x.test', overwrite: true },
  ])
})

test('text of others at the name of the host is no difference, and several addresses are compared as one set', () => {
  const second = { ...record, value: '192.0.2.2' }
  const both = { ...receipt, records: [record, second, mark] }
  const text = { ...record, type: 'TXT', value: 'v=spf1 -all' } as const
  expect(differing({ records: [second, text, mark, record] }, both)).toEqual([])
  expect(differing({ records: [second, mark] }, both)).toMatchObject([{ found: '192.0.2.2', overwrite: false }])
})

test('another served certificate is a difference; one that could not be asked for is none', () => {
  const certificate = { fingerprint: 'F1', names: [], certificateFile: '', keyFile: '', source: 'installed' } as const
  const secured: Receipt = { ...receipt, certificate: { ...certificate, notBefore: 0, notAfter: 1, ours: false } }
  expect(differing({ served: SHOWN }, secured)).toEqual([])
  expect(differing({}, secured)).toEqual([])
  expect(differing({ served: { ...SHOWN, fingerprint: 'F2' } }, secured)).toMatchObject([
    { part: 'certificate', field: 'served', found: 'another one for app.lab.test, valid until 1970-01-01' },
  ])
  expect(differing({ served: null }, secured)).toMatchObject([{ found: 'missing', overwrite: false }])
})
