import { expect, test } from 'vitest'
import { differences, type SeenExposure } from '../../../src/diagnose/drift.ts'
import type { Receipt } from '../../../src/model/receipt.ts'

const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]
const record = { name: 'app.lab.test', type: 'A', ttl: 60, value: '192.0.2.1' } as const
const mark = { name: '_drawbridge.app.lab.test', type: 'TXT', ttl: 60, value: 'drawbridge plan_1' } as const
const receipt: Receipt = {
  version: 2,
  files: [
    { path: 'hosts/app.lab.test.conf', hash: a },
    { path: 'tls/app', hash: a },
  ],
  records: [record, mark],
}
const AS_APPLIED: SeenExposure = {
  files: receipt.files,
  records: receipt.records,
  served: undefined,
  isInStock: true,
}
const differing = (seen: Partial<SeenExposure>, of = receipt) =>
  differences({ host: 'app.lab.test', receipt: of, records: of.records }, { ...AS_APPLIED, ...seen }, (path) =>
    path.startsWith('tls/'),
  )

test('what is as it was applied has no difference', () => {
  expect(differing({})).toEqual([])
})

test('a missing file need not be overwritten, an edited one and a link must be', () => {
  const files = [
    { path: 'hosts/app.lab.test.conf', hash: null },
    { path: 'tls/app', hash: b },
  ]
  expect(differing({ files })).toEqual([
    { part: 'entry', field: 'hosts/app.lab.test.conf', expected: `sha256:${a}`, found: 'missing', overwrite: false },
    { part: 'certificate', field: 'tls/app', expected: `sha256:${a}`, found: `sha256:${b}`, overwrite: true },
  ])
  const link = [{ path: 'hosts/app.lab.test.conf', hash: 'not a regular file' }, ...files.slice(1)]
  expect(differing({ files: link })[0]).toMatchObject({ found: 'not a regular file', overwrite: true })
})

test('records and the owner mark are told apart, with what was found', () => {
  expect(differing({ records: [{ ...record, value: '192.0.2.9' }] })).toEqual([
    { part: 'record', field: 'app.lab.test A', expected: '192.0.2.1', found: '192.0.2.9', overwrite: true },
    {
      part: 'mark',
      field: '_drawbridge.app.lab.test TXT',
      expected: 'drawbridge plan_1',
      found: 'missing',
      overwrite: false,
    },
  ])
})

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
  expect(differing({ served: 'F1' }, secured)).toEqual([])
  expect(differing({}, secured)).toEqual([])
  expect(differing({ served: 'F2' }, secured)).toMatchObject([{ part: 'certificate', field: 'served', found: 'F2' }])
  expect(differing({ served: null }, secured)).toMatchObject([{ found: 'missing', overwrite: false }])
})
