import type { Run } from '../../src/model/run.ts'
import type { Exposure } from '../../src/store/ports/exposures.ts'
import type { EdgeMachine } from './edge-machine.ts'
import { HOSTS, type HostName, hostOf, nameOf, type Restored, type World } from './world.ts'

export class PromiseBroken extends Error {
  readonly promise: string

  constructor(promise: string, detail: string) {
    super(detail)
    this.promise = promise
  }
}

/** What the store says of one host. */
interface Told {
  readonly host: string
  readonly exposure: Exposure | undefined
  readonly runs: readonly Run[]
}

/** Everything that must be true when all neighbours are well again and the service had the time to end what it began. */
export async function assertPromises(world: World): Promise<void> {
  const [dangling] = world.dangling
  if (dangling !== undefined) throw new PromiseBroken('no name points at an edge that does not serve it', dangling)
  const [gone] = world.gone
  if (gone !== undefined) throw new PromiseBroken('no name goes after a restore before somebody asks for it', gone)
  for (const name of HOSTS) {
    const host = hostOf(name)
    const runs = await world.store.runsOfHost(host)
    const told = { host, runs, exposure: await world.store.findExposure(host) }
    assertEnded(told)
    if (told.exposure?.state === 'blocked' || told.exposure?.runId !== undefined) continue
    if (world.restored && !isKnownSince(world.restored, name)) {
      assertUntouched(world, world.restored, name)
      continue
    }
    if (isReleased(told)) assertReleased(world, told)
    else assertWhole(world, told)
  }
  for (const machine of [world.primary, world.secondary]) assertOneGeneration(machine)
  await assertOneCertificate(world)
}

/** Hosts of one certificate get the next one together, on both edges, and no proof for the authority is left. */
async function assertOneCertificate(world: World): Promise<void> {
  const left = world.nameServer.records.find(({ name }) => name.startsWith('_acme-challenge.'))
  if (left) throw new PromiseBroken('no proof for the authority is left', left.name)
  const exposures = (await world.exposures()).filter(
    ({ state, receipt }) => state === 'applied' && receipt?.certificate,
  )
  const told = new Set<string>()
  for (const { host, receipt } of exposures)
    for (const { server, nginx } of [world.primary, world.secondary]) {
      const seen = await world.timeline.untilSettled(nginx.handshake(host))
      const shown = seen.kind === 'certificate' ? seen.fingerprint : seen.kind
      if (shown !== receipt?.certificate?.fingerprint)
        throw new PromiseBroken(
          'an edge shows the certificate of the store',
          `edge ${server} shows ${shown} for ${host}`,
        )
      told.add(shown)
    }
  if (told.size > 1) throw new PromiseBroken('hosts of one certificate are renewed together', [...told].join(', '))
}

function assertEnded({ host, runs, exposure }: Told): void {
  const open = runs.find(({ state }) => state === 'running')
  if (open) throw new PromiseBroken('every run ends', `${open.action} of ${host} has not`)
  if (exposure?.runId === undefined) return
  const claimant = runs.find(({ runId }) => runId === exposure.runId)
  if (claimant?.state !== 'blocked')
    throw new PromiseBroken('only a blocked run keeps its host', `${claimant?.action} is ${claimant?.state}`)
}

/** A restored store knows only what no run has changed since the backup, and what a person has decided. */
const isKnownSince = ({ unchanged, asked, decided }: Restored, name: HostName): boolean =>
  decided.has(name) || (unchanged.has(name) && !asked.has(name))

/** A host that is newer than the store stays as it was until somebody asks for it: it neither comes back nor goes off the air. */
function assertUntouched(world: World, { stood, asked, isFormerOnSecondary }: Restored, name: HostName): void {
  if (asked.has(name)) return
  // Until the new store reaches the Secondary, that goes on following the former one.
  const compared = (told: readonly string[] = []) => (isFormerOnSecondary ? told.slice(0, -1) : told).join(', ')
  const [before, now] = [compared(stood[name]), compared(world.standing(name))]
  if (before !== now)
    throw new PromiseBroken('a restored store changes nothing by itself', `${name} was [${before}] and is [${now}]`)
}

/** An accept has given the host back as it stood. */
export const isReleased = ({ exposure, runs }: Pick<Told, 'exposure' | 'runs'>): boolean =>
  !exposure && runs.findLast(({ action, state }) => state === 'succeeded' && action !== 'converge')?.action === 'accept'

/** Nothing of ours is left, and nothing that was served is gone. */
function assertReleased({ nameServer, primary, secondary }: World, { host }: Told): void {
  if (nameServer.records.some(({ name }) => name === `_drawbridge.${host}`))
    throw new PromiseBroken('a released host has no mark', host)
  const isOurs = ({ present }: EdgeMachine) => present.find(host) !== undefined
  const ours = [primary, secondary].find(isOurs)
  if (ours) throw new PromiseBroken('a released host has no entry of ours', `${host} on edge ${ours.server}`)
  if (nameServer.records.some(({ name }) => name === host) && !primary.nginx.served.has(host))
    throw new PromiseBroken('a released host goes on being served', host)
}

/** A host is wholly on the air or wholly off it, in DNS and on both edges. */
function assertWhole(world: World, { host, exposure }: Told): void {
  const own = world.nameServer.records.filter(({ name }) => name === host || name === `_drawbridge.${host}`)
  const found = own.map(({ type, value }) => `${type} ${value}`).toSorted()
  const expected = (exposure?.receipt?.records ?? []).map(({ type, value }) => `${type} ${value}`).toSorted()
  if (found.join() !== expected.join()) {
    const promise = exposure ? 'an exposure has its records' : 'there is no record without an exposure'
    throw new PromiseBroken(promise, `${host} has [${found}], and the store says [${expected}]`)
  }
  for (const machine of [world.primary, world.secondary]) {
    const edited = world.edits.get(`${machine.server} ${nameOf(host)}`)
    assertServed(machine, host, exposure, edited)
  }
}

/** `edited`: the backend that somebody gave it by hand. */
function assertServed(
  { present, nginx, server }: EdgeMachine,
  host: string,
  exposure: Exposure | undefined,
  edited: string | undefined,
): void {
  const standing = present.find(host)
  const place = `${host} on edge ${server}`
  // A removal takes what stands on the Secondary, whoever wrote it.
  if (exposure && edited !== undefined) {
    const { target } = nginx.served.get(host) ?? {}
    if (target !== edited)
      throw new PromiseBroken('an edit is not overwritten', `${place} has ${target}, not ${edited}`)
    return
  }
  if (!exposure && (standing || nginx.served.has(host)))
    throw new PromiseBroken('there is no entry without an exposure', place)
  if (exposure && standing?.entry?.plan !== exposure.planId)
    throw new PromiseBroken(
      'an exposure has its entry',
      `${place} has ${standing?.entry?.plan}, not ${exposure.planId}`,
    )
  if (exposure && !nginx.served.has(host)) throw new PromiseBroken('an entry is served', place)
}

/** What runs is what is on disk. */
function assertOneGeneration({ nginx, server }: EdgeMachine): void {
  if (!nginx.isUpToDate)
    throw new PromiseBroken('what runs is what is on disk', `nginx of edge ${server} serves an older generation`)
}
