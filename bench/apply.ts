import { join } from 'node:path'
import { checkout } from '../lab/checkout.ts'
import { BACKEND_URL, changeBareNginx, startBackend, startBareNginx } from './bare-nginx.ts'
import { inFolder } from './bench-lab.ts'
import { BLOCKS, blockPerHost } from './block-per-host.ts'
import { startCaddy } from './caddy.ts'
import { isServed } from './is-served.ts'
import { median, timed } from './measure.ts'
import { BENCH_PLACE } from './place.ts'
import { programOf } from './programs.ts'
import { measureSides, Side } from './sides.ts'
import type { Sizes } from './sizes.ts'
import { note, type Row, row, type Target } from './table.ts'
import { makeWildcard } from './wildcard.ts'

const ZONE = 'bare.test'
const BARE = 'bare nginx: one more block'
/** At most this many times bare nginx. */
const MOST_TIMES: Readonly<Record<string, number>> = {
  ...{ 'one apply': 0.75, 'one remove': 0.75 },
  ...{ '16 applies at once': 4, '16 removes at once': 4, '64 applies at once': 12, '64 removes at once': 12 },
  ...{ 'own certificate, one': 1.3, 'own certificate, 64 at once': 20 },
}

/** The first page: what most people do, in turns with bare nginx and Caddy. DNS and the proof are in our figures and not in theirs. */
export function benchApply({ apply: size }: Sizes): Promise<Row[]> {
  return inFolder(async (folder) => {
    await makeWildcard(ZONE, folder)
    const hosts = Array.from({ length: size.hosts }, (_, at) => `h${at}.${ZONE}`)
    const backend = await startBackend(folder)
    const [bare, caddy]: [number[], number[]] = [[], []]
    try {
      const [nginx, other] = [await bareNginx(folder, hosts), await caddyIn(folder, hosts)]
      const ours = await Side.start(checkout(), BENCH_PLACE, join(folder, 'lab'), size)
      try {
        await measureSides([ours], size, async (turn) => {
          for (let round = 0; round < size.rounds; round += 1) {
            const host = `new-${turn}-${round}.${ZONE}`
            bare.push(await timed(() => nginx.add(host)))
            if (other) caddy.push(await timed(() => other.add(host)))
            await other?.remove(host)
          }
        })
      } finally {
        await Promise.all([ours.stop(), nginx.stop(), other?.stop()])
      }
      return rowsOf(ours.figures, bare, caddy)
    } finally {
      await backend.stop()
    }
  })
}

function rowsOf(figures: Side['figures'], bare: readonly number[], caddy: readonly number[]): Row[] {
  return [
    row(BARE, 'ms', bare),
    caddy.length > 0
      ? row('Caddy: one more route', 'ms', caddy)
      : note('Caddy', 'not measured: caddy is not installed'),
    ...[...figures].flatMap(([measure, ms]) => {
      const most = MOST_TIMES[measure]
      const target: Target | undefined = most === undefined ? undefined : { most }
      return [row(measure, 'ms', ms), row(`${measure} : bare`, '×', median(ms) / median(bare), target)]
    }),
  ]
}

/** An nginx with two blocks for each host. `add`: writes one more, tests, reloads, and resolves when the host is served. */
async function bareNginx(folder: string, hosts: readonly string[]) {
  const pair = { certificate: join(folder, 'wildcard.pem'), key: join(folder, 'wildcard.key') }
  const text = (names: readonly string[]) => blockPerHost(names, BACKEND_URL, pair)
  const daemon = await startBareNginx(folder, 'bare', text(hosts))
  return {
    async add(host: string) {
      await changeBareNginx(folder, 'bare', text([...hosts, host]))
      while (!(await isServed(BLOCKS, host)));
    },
    stop: () => daemon.stop(),
  }
}

/** Undefined without Caddy. */
async function caddyIn(folder: string, hosts: readonly string[]) {
  const program = programOf('caddy')
  if (program === undefined) return undefined
  const certificates = [{ certificate: join(folder, 'wildcard.pem'), key: join(folder, 'wildcard.key') }]
  return startCaddy({ program, folder, hosts, target: BACKEND_URL, certificates })
}
