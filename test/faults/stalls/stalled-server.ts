import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statePaths, tsigKey } from '../../../lab/state.ts'
import { holdsExactly } from '../../../src/dns/read-back.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import type { TsigKeySettings } from '../../../src/dns/tsig.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { takes } from '../../support/delay.ts'
import { randomKey, type ServedZone, type ZoneHost } from '../../support/dns/served-zone.ts'
import { granted, planned, runWith } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { withStore } from '../../support/lab/lab-store.ts'
import { until } from '../../support/until.ts'

/** A campaign: `npm run campaign -- stalls`. `STALLS=6,9` takes only these lengths, in seconds. */
const LENGTHS = process.env.STALLS?.split(',').map(Number) ?? Array.from({ length: 15 }, (_, i) => i + 1)
const AT_ONCE = Number(process.env.AT_ONCE ?? 40)
const DECIDED = ['applied', 'rolled_back', 'removed', 'blocked']

interface Host {
  readonly host: string
  readonly planId: string
}

/** One file for each server: most of the time they wait, so three workers run them side by side. */
export function describeStalls(name: string, start: (zone: ServedZone) => Promise<ZoneHost>): void {
  describe.runIf(process.env.CAMPAIGN)(`a stalled ${name}`, () => {
    let lab: TestLab
    let server: ZoneHost
    const all: Host[] = []
    beforeAll(async () => {
      lab = await startTestLab()
      const key = tsigKey(statePaths(lab.state)) as TsigKeySettings
      server = await start({ zone: lab.description.zone, key, stranger: randomKey('stranger') })
      const primary = `${server.endpoint.address}:${server.endpoint.port}`
      await lab.restartService((config) => {
        const [zone, settings] = Object.entries(config.zones as Record<string, object>)[0] ?? []
        return { ...config, zones: { [String(zone)]: { ...settings, primary, nameServers: [primary] } } }
      })
    })
    afterAll(async () => {
      process.kill(server.pid, 'SIGCONT')
      await lab?.stop()
      await server?.stop()
    })

    /** Stops the server for some seconds, at any moment of the first three of what is begun. 0: not at all. */
    const stalledFor = async (seconds: number, begin: () => Promise<unknown>) => {
      const working = begin()
      if (seconds === 0) return working
      await takes(randomInt(3_000))
      process.kill(server.pid, 'SIGSTOP')
      await takes(seconds * 1_000 - randomInt(1_000))
      process.kill(server.pid, 'SIGCONT')
      return working
    }
    /** Runs the same action for all these hosts at once, and waits until each plan is decided. */
    const runAll = async (hosts: readonly Host[], action: 'apply' | 'remove', seconds: number) => {
      const capabilities = await Promise.all(hosts.map(({ planId }) => granted(lab, planId, action)))
      const answers: string[] = []
      const one = async ({ planId }: Host, i: number) => {
        const { status, body } = await runWith(lab, capabilities[i] ?? '', planId, action)
        answers.push(`${status} ${body.code ?? ''}`.trim())
      }
      await stalledFor(seconds, () => Promise.all(hosts.map(one)))
      await housekeeping(lab, 'recover')
      // From the store: the API limits how often one address asks.
      await withStore(lab, (store) =>
        until('every run has ended', async () => (await statesIn(store, hosts)).every(isDecided), 180_000),
      )
      return tally(answers)
    }
    const states = (hosts: readonly Host[]) => withStore(lab, (store) => statesIn(store, hosts))

    /** Hosts with a record and no exposure, and with an exposure and no record. */
    const strays = async (hosts: readonly Host[]) => {
      const { address } = lab.description.edges.primary
      const reader = dnsReader(server.endpoint)
      const applied = await states(hosts)
      const found: string[] = []
      for (const [i, { host }] of hosts.entries()) {
        const held = await holdsExactly(reader, [{ name: host, type: 'A', ttl: 60, value: address }])
        if ((held === 'yes') !== (applied[i] === 'applied')) found.push(`${host}: record ${held}, plan ${applied[i]}`)
      }
      return found
    }

    test.each(LENGTHS)('for %d s', { timeout: 600_000 }, async (seconds) => {
      const hosts: Host[] = []
      for (let i = 0; i < AT_ONCE; i += 1)
        hosts.push(await planned(lab, { subdomain: `s${seconds}-${i}` }).then(({ host, planId }) => ({ host, planId })))
      all.push(...hosts)
      const applies = await runAll(hosts, 'apply', seconds)
      expect(await strays(hosts)).toEqual([])
      const after = await states(hosts)
      await runAll(
        hosts.filter((_, i) => after[i] === 'rolled_back'),
        'apply',
        0,
      )
      const removes = await runAll(hosts, 'remove', seconds)
      console.log(name, `${seconds} s:`, JSON.stringify({ applies, removes }))
      expect(await strays(hosts)).toEqual([])
    })

    test('no late effect has arrived, and no plan is blocked', async () => {
      expect(await strays(all)).toEqual([])
      expect((await states(all)).filter((state) => state === 'blocked')).toEqual([])
    })
  })
}

const statesIn = (store: Pick<Store, 'findPlan'>, hosts: readonly Host[]): Promise<string[]> =>
  Promise.all(hosts.map(async ({ planId }) => (await store.findPlan(planId))?.state ?? 'gone'))

const isDecided = (state: string): boolean => DECIDED.includes(state)

const tally = (words: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, same]) => [word, same.length]))
