import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab } from '../lab/lab.ts'
import { localAuthority } from './authority.ts'
import { BACKEND_URL, startBackend } from './bare-nginx.ts'
import { closeLab, inFolder, onKeptLab } from './bench-lab.ts'
import { type CaddyOptions, startCaddy } from './caddy.ts'
import { Caller } from './caller.ts'
import { oneByOne } from './exposures.ts'
import { atRest, testAndReload } from './floor.ts'
import { type Footprint, footprint } from './footprint.ts'
import { median, roundsOf, timed } from './measure.ts'
import { programOf } from './programs.ts'
import { labelOf, type SeedOptions } from './seed.ts'
import type { Sizes } from './sizes.ts'
import { note, type Row, row, type Target } from './table.ts'
import { makeWildcard } from './wildcard.ts'

const ZONE = 'lab.test'
const WARM_UP = 2
const BARE_ROUNDS = 3
/** Of one apply at the smallest size, by the number of hosts. */
const MOST_GROWTH: Readonly<Record<number, number>> = { 1000: 1.3, 10000: 2 }
const MOST_REMOVE = 1.2
const MOST_MB = { service: 200, worker: { wildcard: 60, own: 120 } }

type Tls = SeedOptions['tls']

interface Point {
  readonly hosts: number
  readonly tls: Tls
}

interface Measured extends Point, Footprint {
  readonly apply: readonly number[]
  readonly remove: readonly number[]
  readonly bare: readonly number[]
  readonly caddy: readonly number[] | undefined
}

/** One apply and one remove beside more and more hosts, and Caddy adding one route beside as many. */
export async function benchScale({ scale: size }: Sizes): Promise<Row[]> {
  // The largest first: the part before has left a lab of that size.
  const points: Point[] = [
    ...size.hosts.toReversed().map((hosts) => ({ hosts, tls: 'wildcard' as const })),
    { hosts: size.own, tls: 'own' },
  ]
  const measured: Measured[] = []
  for (const point of points) {
    const ours = await onKeptLab(point, (lab) => measure(lab, size.rounds)).finally(closeLab)
    measured.push({ ...point, ...ours, caddy: await addToCaddy(point, size.rounds) })
  }
  const [own, ...wildcard] = measured.toReversed()
  return [...wildcard, ...(own ? [own] : [])].flatMap((each) => rowsOf(each, wildcard[0]?.apply ?? []))
}

async function measure(lab: Lab, rounds: number) {
  const caller = new Caller(lab.description)
  const { apply, remove } = await oneByOne(caller, lab.description, { prefix: 'scale', rounds, warmUp: WARM_UP })
  caller.close()
  const bare: number[] = []
  for (let round = 0; round < BARE_ROUNDS; round += 1) {
    bare.push(await timed(() => testAndReload(lab.description.edges.primary)))
    await atRest(lab.description)
  }
  return { apply, remove, bare, ...footprint(lab) }
}

/** Undefined without Caddy. */
async function addToCaddy({ hosts, tls }: Point, rounds: number): Promise<number[] | undefined> {
  const program = programOf('caddy')
  if (program === undefined) return undefined
  return inFolder(async (folder) => {
    const names = Array.from({ length: hosts }, (_, at) => `${labelOf(at)}.${ZONE}`)
    const certificates = await certificatesIn(folder, tls === 'own' ? names : [])
    const backend = await startBackend(folder)
    try {
      const caddy = await startCaddy({ program, folder, hosts: names, target: BACKEND_URL, certificates })
      try {
        const times: number[] = []
        for (const round of roundsOf({ rounds, warmUp: WARM_UP })) {
          const host = `scale-${round + WARM_UP}.${ZONE}`
          const took = await timed(() => caddy.add(host))
          await caddy.remove(host)
          if (round >= 0) times.push(took)
        }
        return times
      } finally {
        await caddy.stop()
      }
    } finally {
      await backend.stop()
    }
  })
}

/** The wildcard certificate, with which the added hosts are served, and one for each name. */
async function certificatesIn(folder: string, names: readonly string[]): Promise<CaddyOptions['certificates']> {
  await makeWildcard(ZONE, folder)
  const own = join(folder, 'own')
  mkdirSync(own)
  const authority = localAuthority()
  const pairs = names.map((name) => {
    const { certificatePem, keyPem } = authority.issue(name)
    const files = { certificate: join(own, `${name}.pem`), key: join(own, `${name}.key`) }
    writeFileSync(files.certificate, certificatePem)
    writeFileSync(files.key, keyPem, { mode: 0o600 })
    return files
  })
  return [{ certificate: join(folder, 'wildcard.pem'), key: join(folder, 'wildcard.key') }, ...pairs]
}

function rowsOf({ hosts, tls, apply, remove, bare, caddy, ...found }: Measured, smallest: readonly number[]): Row[] {
  const where = `${hosts} hosts, ${tls === 'own' ? 'a certificate each' : 'wildcard'}`
  const growth: Target | undefined = tls === 'wildcard' && MOST_GROWTH[hosts] ? { most: MOST_GROWTH[hosts] } : undefined
  const isLarge = hosts >= 10_000
  const ahead: Target | undefined = hosts >= 1_000 ? { most: 1 } : undefined
  return [
    row(`${where}: one apply`, 'ms', apply),
    row(`${where}: one apply : one at the smallest size`, '×', median(apply) / median(smallest), growth),
    row(`${where}: one remove`, 'ms', remove),
    row(`${where}: remove : apply`, '×', median(remove) / median(apply), { most: MOST_REMOVE }),
    row(`${where}: bare nginx -t and HUP on one edge`, 'ms', bare),
    ...(caddy
      ? [
          row(`${where}: Caddy adds one route`, 'ms', caddy),
          row(`${where}: one apply : Caddy`, '×', median(apply) / median(caddy), ahead),
        ]
      : [note(`${where}: Caddy adds one route`, 'not measured: caddy is not installed')]),
    row(`${where}: memory of the service`, 'MB', found.serviceMb, isLarge ? { most: MOST_MB.service } : undefined),
    row(
      `${where}: memory of one nginx worker`,
      'MB',
      found.workerMb,
      isLarge ? { most: MOST_MB.worker[tls] } : undefined,
    ),
    row(`${where}: disk per host, one edge`, 'kB', found.edgeKb / hosts),
    row(`${where}: disk per host, store and state`, 'kB', found.storeKb / hosts),
  ]
}
