import { existsSync, lchownSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import { statePaths } from '../../../lab/state.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { handshake } from '../../support/edge/tls-visitor.ts'
import { certificateEntryFile, certificateFile, editEntry, entryFile, hasEntry } from '../../support/lab/entry-file.ts'
import { applied, expected, invariants, planOf, planRequest, removed, run, world } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { change } from '../../support/lab/lab-store.ts'
import { forgetReleased } from '../../support/lab/released.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { until } from '../../support/until.ts'

/** Whatever was damaged is named, repaired, or accepted as it stands. On a whole lab, with a certificate of its own. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(async () => {
  if (lab) forgetReleased(lab, released)
  await lab?.stop()
})

/** The hosts that were accepted. */
const released: string[] = []

interface Damage {
  readonly name: string
  readonly make: (host: string) => void
  /** The parts that the comparison names. */
  readonly parts: readonly string[]
  /** A repair would overwrite what somebody else changed. */
  readonly foreign?: boolean
  readonly needsRoot?: boolean
}

const primary = () => lab.description.edges.primary
const entry = (host: string) => entryFile(primary(), host)
const mapEntry = (host: string) => certificateEntryFile(primary(), host)
const pairFile = (host: string) => certificateFile(primary(), host)
const stock = (host: string) => {
  const folder = join(statePaths(lab.state).service, 'certificates')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes(host))
    .map((name) => join(folder, name))
}
const linkAway = (host: string) => {
  const elsewhere = join(dirname(primary().config), `${host}.copy`)
  writeFileSync(elsewhere, readFileSync(entry(host)))
  rmSync(entry(host))
  symlinkSync(elsewhere, entry(host))
}
const NOBODY = 65_534

const DAMAGES: readonly Damage[] = [
  { name: 'entry edited', make: (host) => editEntry(entry(host), host), parts: ['entry'], foreign: true },
  {
    name: 'entry broken',
    make: (host) => editEntry(entry(host), host, ' not nginx;'),
    parts: ['entry'],
    foreign: true,
  },
  { name: 'entry deleted', make: (host) => rmSync(entry(host)), parts: ['entry'] },
  { name: 'entry a link', make: linkAway, parts: ['entry'], foreign: true },
  {
    name: 'owner changed',
    // Never through a link that an earlier case has left there.
    make: (host) => lchownSync(entry(host), NOBODY, NOBODY),
    parts: ['entry'],
    needsRoot: true,
  },
  {
    name: 'record changed',
    make: (host) => updateZone(lab, `update delete ${host} A`, `update add ${host} 60 A 192.0.2.77`),
    parts: ['record'],
    foreign: true,
  },
  {
    name: 'record an alias',
    make: (host) => updateZone(lab, `update delete ${host} A`, `update add ${host} 60 CNAME elsewhere.test.`),
    parts: ['record'],
    foreign: true,
  },
  { name: 'record deleted', make: (host) => updateZone(lab, `update delete ${host} A`), parts: ['record'] },
  { name: 'mark deleted', make: (host) => updateZone(lab, `update delete _drawbridge.${host} TXT`), parts: ['mark'] },
  {
    name: 'mark changed',
    make: (host) =>
      updateZone(lab, `update delete _drawbridge.${host} TXT`, `update add _drawbridge.${host} 60 TXT "mine"`),
    parts: ['mark'],
    foreign: true,
  },
  { name: 'certificate entry gone', make: (host) => rmSync(mapEntry(host)), parts: ['certificate'] },
  { name: 'certificate gone from the edge', make: (host) => rmSync(pairFile(host)), parts: ['certificate'] },
  {
    name: 'certificate gone from the folder',
    make: (host) => {
      for (const path of stock(host)) rmSync(path, { recursive: true, force: true })
    },
    parts: ['certificate'],
  },
  {
    name: 'everything gone',
    make: (host) => {
      for (const path of [entry(host), mapEntry(host), ...stock(host)]) rmSync(path, { recursive: true, force: true })
      updateZone(lab, `update delete ${host} A`, `update delete _drawbridge.${host} TXT`)
    },
    parts: ['certificate', 'entry', 'mark', 'record'],
  },
]

/** Beside one of each kind, `everything gone` repairs what is deleted alone. */
const ALONE = ['entry broken', 'entry deleted', 'record changed', 'record deleted', 'mark deleted']
const REPAIRED = DAMAGES.filter(({ name }) => process.env.CAMPAIGN || !ALONE.includes(name))

const drift = async (planId: string): Promise<readonly { part: string; overwrite: boolean }[]> =>
  expected(await lab.call({ path: `/api/deploy/plans/${planId}/drift` }), 200).differences
const partsOf = (found: readonly { part: string }[]) => [...new Set(found.map(({ part }) => part))].sort()
const badge = async (host: string) => (await lab.call({ path: `/api/health?host=${host}` })).body.badge

describe('one exposure, damaged and repaired again and again', () => {
  let host: string
  let planId: string
  let before: readonly unknown[]
  beforeAll(async () => {
    before = await world(lab)
    const body = await applied(lab, { subdomain: 'damaged', tls: true })
    host = body.host
    planId = body.planId
  })

  test.for(REPAIRED)('$name: is named and repaired', async (damage, { skip }) => {
    const { make, parts, foreign = false, needsRoot = false } = damage
    skip(needsRoot && !isRoot(), 'It takes root to give a file away.')
    make(host)
    const found = await drift(planId)
    expect(partsOf(found)).toEqual(parts)
    expect(found.some(({ overwrite }) => overwrite)).toBe(foreign)
    if (foreign) {
      const refused = await run(lab, planId, 'repair')
      expect(refused).toMatchObject({ status: 409, body: { code: 'changed_elsewhere' } })
      expect(partsOf(await drift(planId))).toEqual(parts)
    }
    const repaired = expected(await run(lab, planId, 'repair', {}, { overwrite: foreign }), 200)
    expect(repaired).toMatchObject({ planId, state: 'applied', verification: { primary: { ok: true } } })
    expect(await drift(planId)).toEqual([])
    await until('the host is RUNNING', async () => (await badge(host)) === 'RUNNING')
    await invariants(lab)
  })

  test('is removed without a trace in the end', async () => {
    await removed(lab, planId)
    expect(await world(lab)).toEqual(before)
  })
})

/** One of each kind, or all that can be accepted. */
const ACCEPTED = process.env.CAMPAIGN
  ? DAMAGES.filter(({ name }) => !['entry broken', 'entry deleted', 'everything gone'].includes(name))
  : DAMAGES.filter(({ name }) => ['entry edited', 'record an alias'].includes(name))

describe.each(ACCEPTED)('$name, accepted', ({ name, make }) => {
  test('stays as it stands, out of the books', async () => {
    const { host, planId } = await applied(lab, { subdomain: `a-${name.replaceAll(' ', '-')}`, tls: true })
    const { edges, acme } = lab.description
    const visit = async () =>
      handshake(edges.primary, host, readFileSync(acme.ca, 'utf8')).then(
        ({ serial }) => serial,
        (error: Error) => error.message,
      )
    make(host)
    const before = await visit()
    const stood = hasEntry(primary(), host)
    const accepted = expected(await run(lab, planId, 'accept'), 200)
    released.push(host)
    expect(accepted).toMatchObject({ planId, state: 'released', host })
    expect(accepted.file === null).toBe(!stood)
    if (accepted.file) expect(existsSync(accepted.file)).toBe(true)
    if (stood) expect(await visit()).toBe(before)
    expect((await planOf(lab, planId)).state).toBe('released')
    expect(await run(lab, planId, 'remove')).toMatchObject({ status: 409, body: { code: 'plan_not_applied' } })
    expect(hasEntry(primary(), host)).toBe(false)
  })
})

test.runIf(process.env.CAMPAIGN)('an entry that was deleted is not accepted, because it serves nothing', async () => {
  const { host, planId } = await applied(lab, { subdomain: 'a-entry-deleted' })
  rmSync(entry(host))
  const { status, body } = await run(lab, planId, 'accept')
  expect([status, body.code]).toEqual([502, 'accept_failed'])
  expect(body.detail).toContain('serves nothing')
  expect((await planOf(lab, planId)).state).toBe('applied')
  expected(await run(lab, planId, 'repair'), 200)
  await removed(lab, planId)
})

test('a repaired exposure expires as it would have', async () => {
  const { planId } = await applied(lab, { subdomain: 'repaired-brief', expiresIn: 300 })
  rmSync(entry(`repaired-brief.${lab.description.zone}`))
  expected(await run(lab, planId, 'repair'), 200)
  change(lab, 'update exposures set expires_at = 1 where plan_id = ?', planId)
  await housekeeping(lab, 'expire')
  expect((await planOf(lab, planId)).state).toBe('removed')
})

test('a name that was released is taken', async () => {
  const again = await lab.call({ path: '/api/deploy/plan', body: planRequest(lab, { subdomain: 'a-entry-edited' }) })
  expect(again.status).toBe(409)
})
