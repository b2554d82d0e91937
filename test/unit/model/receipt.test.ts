import { describe, expect, test } from 'vitest'
import {
  aftersIn,
  type ChosenCertificate,
  decodeReceipt,
  type Receipt,
  receiptOf,
  recordsOf,
  type Verification,
  type ZoneRecord,
} from '../../../src/model/receipt.ts'
import type { JournalMark } from '../../../src/model/run.ts'
import { samplePlan, sampleStep } from '../../contract/samples.ts'

const HOST = 'shop.lab.test'
const RECORDS: readonly ZoneRecord[] = [
  { name: HOST, type: 'A', ttl: 60, value: '127.0.45.23' },
  { name: `_drawbridge.${HOST}`, type: 'TXT', ttl: 60, value: 'drawbridge plan_1' },
]
const CERTIFICATE: ChosenCertificate = {
  ...{ fingerprint: 'AA', certificateFile: '/certificates/fullchain.pem', keyFile: '/certificates/privkey.pem' },
  ...{ source: 'issued', names: [HOST], notBefore: 1, notAfter: 2, ours: true },
}
const VERIFICATION: Verification = {
  primary: { server: '23', ok: true, detail: 'HTTP 200', httpStatus: 200, latencyMs: 3 },
  secondary: { server: '73', ok: false, detail: 'no answer', optional: true },
}
const RECEIPT: Receipt = { version: 2, records: RECORDS, certificate: CERTIFICATE, verification: VERIFICATION }

describe('a stored receipt', () => {
  test('of version 2 is read as it is', () => {
    const stored = { ...RECEIPT, onSecondary: 'BB' }
    expect(decodeReceipt(JSON.parse(JSON.stringify(stored)), HOST)).toStrictEqual(stored)
  })

  test('of version 2 is also read with the files that an earlier version named in it', () =>
    expect(decodeReceipt({ ...RECEIPT, files: [] }, HOST)).toMatchObject(RECEIPT))

  test.each([3, '2', 0])('of version %j is refused, and the sentence says what to do', (version) =>
    expect(() => decodeReceipt({ ...RECEIPT, version }, HOST)).toThrow(
      `The receipt of ${HOST} has version ${JSON.stringify(version)}, which this version of Drawbridge cannot read. Start the version that wrote it.`,
    ),
  )
})

test('the receipt of an update keeps the former records, and neither the former certificate nor what the Secondary served', () => {
  const after = receiptOf({ proxy: { generation: 7 }, verify: VERIFICATION }, { ...RECEIPT, onSecondary: 'BB' })
  expect(after).toStrictEqual({ version: 2, records: RECORDS, verification: VERIFICATION })
})

test('the receipt of a run without any of these steps keeps the records', () => {
  expect(receiptOf({}, RECEIPT)).toStrictEqual({ version: 2, records: RECORDS })
  expect(receiptOf({})).toStrictEqual({ version: 2, records: [] })
})

const planned = [{ name: HOST, type: 'A', ttl: 60, value: '127.0.45.23' }]

test('the records of an exposure are those of its receipt', () =>
  expect(recordsOf(samplePlan(), RECEIPT)).toBe(RECORDS))

test('the records of an exposure are those that its plan adds while there is no receipt, or none with records', () => {
  expect(recordsOf(samplePlan(), undefined)).toStrictEqual(planned)
  expect(recordsOf(samplePlan(), { ...RECEIPT, records: [] })).toStrictEqual(planned)
  expect(recordsOf(samplePlan({ changes: [] }), undefined)).toStrictEqual([])
})

const entry = (step: string, mark: JournalMark, image?: unknown) => ({ ...sampleStep({ step, mark, image }), seq: 1 })

test('the after-images in a journal are those of finished steps, the newest for each step', () => {
  const entries = [
    entry('run', 'intent'),
    entry('check', 'done', null),
    entry('proxy', 'intent', null),
    entry('proxy', 'done', { generation: 7 }),
    entry('proxy', 'done', { generation: 8 }),
    entry('dns', 'failed', { untouched: true }),
    entry('verify', 'verdict', VERIFICATION),
    entry('run', 'done', { state: 'applied' }),
  ]
  expect(aftersIn(entries)).toStrictEqual({ check: null, proxy: { generation: 8 }, verify: VERIFICATION })
  expect(aftersIn([])).toStrictEqual({})
})
