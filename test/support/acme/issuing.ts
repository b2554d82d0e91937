import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type AcmeIssuerOptions, acmeIssuer } from '../../../src/certificates/acme/issuer.ts'
import { orderBudget } from '../../../src/certificates/budget/order-budget.ts'
import { IssueFault } from '../../../src/certificates/contract.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type TempFolder, tempFolder } from '../temp-folder.ts'
import { type AcmeFaultProxy, startFaultProxy } from './acme-fault-proxy.ts'
import { type AcmeSite, orderBook, startAcmeSite } from './acme-site.ts'
import { ledgerBook, type TestLedger } from './ledger-book.ts'

export const ZONE = 'issue.test'
export const HOST = `app.${ZONE}`
/** Pebble reuses no authorization and refuses no nonce at random, unless a test asks for it. */
const STEADY = { PEBBLE_AUTHZREUSE: '0', PEBBLE_WFE_NONCEREJECT: '0' }

interface Bench {
  readonly site: AcmeSite
  readonly state: TempFolder
  readonly proxy: AcmeFaultProxy
  readonly orders: ReturnType<typeof orderBook>
  readonly ledger: TestLedger
  /** The progress that issuers reported. */
  readonly told: string[]
}

/** One Pebble and one zone for a test file; for each test a state folder, an order book and a proxy in front of Pebble. */
export function issuingBench(externalAccounts?: Readonly<Record<string, string>>) {
  let site: AcmeSite
  let bench: Bench
  beforeAll(async () => {
    site = await startAcmeSite(ZONE, STEADY, externalAccounts)
  })
  afterAll(() => site?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    const proxy = await startFaultProxy(site.pebbleFolder, site.pebblePort)
    bench = { site, state: tempFolder(), proxy, orders: orderBook(), ledger: ledgerBook(), told: [] }
  })
  afterEach(async () => {
    await bench.proxy[Symbol.asyncDispose]()
    bench.state[Symbol.dispose]()
  })
  return {
    bench: () => bench,
    issuer: (more: Partial<AcmeIssuerOptions> = {}) => issuerOn(bench, more),
    /** The fault of a refused issuing. It must not contain a key. */
    faultOf: (issuing: Promise<unknown>) => faultOn(bench, issuing),
    /** The number of orders that Pebble has accepted. */
    ordersPlaced: () => bench.proxy.seen.filter(({ path, status }) => path === '/order-plz' && status === 201).length,
  }
}

/** No limits, and short pauses between attempts. */
const LENIENT = {
  limits: { renewalsExempt: false },
  backoff: { firstSeconds: 0.001, longestSeconds: 0.001 },
  domainOf: (name: string) => name,
}

export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()

const issuerOn = ({ site, state, proxy, orders, ledger, told }: Bench, more: Partial<AcmeIssuerOptions>) =>
  acmeIssuer({
    directory: proxy.directory,
    budget: orderBudget({ ...LENIENT, directory: more.directory ?? proxy.directory, ledger, now: Date.now }),
    caFile: site.caFile,
    stateDir: state.path,
    orders,
    clock: systemClock,
    onProgress: ({ kind, detail }) => told.push(`${kind} ${detail}`),
    limits: { pollMs: 20 },
    ...more,
  })

async function faultOn({ state, told }: Bench, issuing: Promise<unknown>): Promise<IssueFault> {
  const error = await issuing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  const keys = filesBelow(state.path).filter((file) => /key/.test(file) && statSync(join(state.path, file)).isFile())
  const secrets = keys.flatMap((file) => readFileSync(join(state.path, file), 'utf8').split('\n').filter(isKeyText))
  expect(secrets.length).toBeGreaterThan(0)
  for (const secret of secrets) expect(inspect(error, { depth: 20, showHidden: true }) + told).not.toContain(secret)
  if (!(error instanceof IssueFault)) throw new Error('The error is no IssueFault.', { cause: error })
  return error
}

const isKeyText = (line: string): boolean => line !== '' && !line.startsWith('-----')
