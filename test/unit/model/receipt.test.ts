import { describe, expect, test } from 'vitest'
import {
  type Afters,
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
const PLAIN = [{ path: `hosts/${HOST}.conf`, hash: 'a'.repeat(64) }]
const SECURE = [...PLAIN, { path: 'tls/certs/AA.pem', hash: 'b'.repeat(64) }]
const CERTIFICATE: ChosenCertificate = {
  fingerprint: 'AA',
  certificateFile: '/certificates/shop/fullchain.pem',
  keyFile: '/certificates/shop/privkey.pem',
  source: 'issued',
  names: [HOST],
  notBefore: 1,
  notAfter: 2,
  ours: true,
}
const VERIFICATION: Verification = {
  primary: { server: '23', ok: true, detail: 'HTTP 200', httpStatus: 200, latencyMs: 3 },
  secondary: { server: '73', ok: false, detail: 'no answer', optional: true },
}
const RENEWAL = { files: SECURE }
const AFTERS: Afters = {
  check: null,
  backup: { runId: 'run_1', host: HOST, server: '23', at: '2026-01-01T00:00:00.000Z', files: [] },
  certificate: CERTIFICATE,
  proxy: { files: PLAIN },
  dns: { records: RECORDS },
  verify: VERIFICATION,
}
const RECEIPT: Receipt = {
  version: 2,
  files: PLAIN,
  records: RECORDS,
  certificate: CERTIFICATE,
  verification: VERIFICATION,
}

describe('a stored receipt', () => {
  test('of version 1, the after-images by step, is read as version 2', () => {
    expect(decodeReceipt(AFTERS, HOST)).toStrictEqual(RECEIPT)
  })

  test('of version 1 with http-01 holds the files of the last proxy step', () => {
    expect(decodeReceipt({ ...AFTERS, 'proxy-tls': { files: SECURE } }, HOST)).toStrictEqual({
      ...RECEIPT,
      files: SECURE,
    })
  })

  test('of version 1 keeps the renewal that was begun, and the certificate of the Secondary', () => {
    expect(decodeReceipt({ ...AFTERS, renewal: RENEWAL, secondary: 'BB' }, HOST)).toStrictEqual({
      ...RECEIPT,
      onSecondary: 'BB',
      renewal: RENEWAL,
    })
  })

  test('of version 1 without TLS has no certificate', () => {
    const { certificate: _certificate, ...plain } = AFTERS
    expect(decodeReceipt(plain, HOST)).toStrictEqual({
      version: 2,
      files: PLAIN,
      records: RECORDS,
      verification: VERIFICATION,
    })
  })

  test('of version 2 is read as it is', () => {
    const stored = { ...RECEIPT, onSecondary: 'BB', renewal: RENEWAL }
    expect(decodeReceipt(JSON.parse(JSON.stringify(stored)), HOST)).toStrictEqual(stored)
  })

  test.each([3, '2', 0])('of version %j is refused, and the sentence says what to do', (version) => {
    expect(() => decodeReceipt({ ...RECEIPT, version }, HOST)).toThrow(
      `The receipt of ${HOST} has version ${JSON.stringify(version)}, which this version of Drawbridge cannot read. Start the version that wrote it.`,
    )
  })
})

describe('the receipt of a run', () => {
  test('of an update keeps the former records, and neither the former certificate nor what the Secondary served', () => {
    const after = receiptOf({ proxy: { files: SECURE }, verify: VERIFICATION }, { ...RECEIPT, onSecondary: 'BB' })
    expect(after).toStrictEqual({ version: 2, files: SECURE, records: RECORDS, verification: VERIFICATION })
  })

  test('of a run without any of these steps keeps files and records', () => {
    expect(receiptOf({}, RECEIPT)).toStrictEqual({ version: 2, files: PLAIN, records: RECORDS })
    expect(receiptOf({})).toStrictEqual({ version: 2, files: [], records: [] })
  })
})

describe('the records of an exposure', () => {
  const planned = [{ name: HOST, type: 'A', ttl: 60, value: '127.0.45.23' }]

  test('are those of its receipt', () => {
    expect(recordsOf(samplePlan(), RECEIPT)).toBe(RECORDS)
  })

  test('are those that its plan adds while there is no receipt, or none with records', () => {
    expect(recordsOf(samplePlan(), undefined)).toStrictEqual(planned)
    expect(recordsOf(samplePlan(), { ...RECEIPT, records: [] })).toStrictEqual(planned)
    expect(recordsOf(samplePlan({ changes: [] }), undefined)).toStrictEqual([])
  })
})

describe('the after-images in a journal', () => {
  const entry = (step: string, mark: JournalMark, image?: unknown) => ({ ...sampleStep({ step, mark, image }), seq: 1 })

  test('are those of finished steps, the newest for each step', () => {
    const entries = [
      entry('run', 'intent'),
      entry('check', 'done', null),
      entry('proxy', 'intent', { before: [] }),
      entry('proxy', 'done', { files: PLAIN }),
      entry('proxy', 'done', { files: SECURE }),
      entry('dns', 'failed', { untouched: true }),
      entry('verify', 'verdict', VERIFICATION),
      entry('run', 'done', { state: 'applied' }),
    ]
    expect(aftersIn(entries)).toStrictEqual({ check: null, proxy: { files: SECURE }, verify: VERIFICATION })
    expect(aftersIn([])).toStrictEqual({})
  })
})
