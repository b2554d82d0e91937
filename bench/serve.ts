import { join } from 'node:path'
import type { Endpoint } from '../lab/addresses.ts'
import { statePaths } from '../lab/state.ts'
import { BACKEND_URL, startBackend } from './bare-nginx.ts'
import { inFolder, onLab } from './bench-lab.ts'
import { BLOCKS, startBlockPerHost } from './block-per-host.ts'
import { startCaddy } from './caddy.ts'
import { median } from './measure.ts'
import { programOf } from './programs.ts'
import { labelOf } from './seed.ts'
import type { Sizes } from './sizes.ts'
import { note, type Row, row } from './table.ts'
import { requestsPerSecond } from './wrk.ts'

const LEAST_RATIO = 0.95
const KINDS = [
  { name: 'requests on 16 kept connections', handshakes: false },
  { name: 'TLS handshakes, each with one request', handshakes: true },
] as const

interface Stoppable {
  stop(): Promise<void>
}

/** Requests and handshakes through an edge of many hosts, beside other ways to write the same hosts. The service does not run. */
export async function benchServe({ serve: size }: Sizes): Promise<Row[]> {
  const wrk = programOf('wrk')
  if (wrk === undefined) return [note('requests and handshakes', 'not measured: wrk is not installed')]
  return onLab({ hosts: size.hosts, tls: 'wildcard', target: BACKEND_URL, service: false }, (lab) =>
    inFolder(async (folder) => {
      const { zone, edges } = lab.description
      const hosts = Array.from({ length: size.hosts }, (_, at) => `${labelOf(at)}.${zone}`)
      const { certificates } = statePaths(lab.state)
      const pair = { certificate: join(certificates, 'wildcard.pem'), key: join(certificates, 'wildcard.key') }
      const servers: Record<string, Endpoint> = {
        ours: { address: edges.primary.address, port: edges.primary.https },
        'a block per host': BLOCKS,
      }
      const started: Stoppable[] = []
      try {
        started.push(await startBackend(folder), await startBlockPerHost(folder, hosts, BACKEND_URL, pair))
        const program = programOf('caddy')
        if (program !== undefined) {
          const caddy = await startCaddy({ program, folder, hosts, target: BACKEND_URL, certificates: [pair] })
          started.push(caddy)
          servers.Caddy = caddy
        }
        // The middle one: Caddy compares the routes one by one.
        return await measure(servers, { program: wrk, folder, host: hosts[hosts.length >> 1] ?? '', ...size })
      } finally {
        for (const each of started.reverse()) await each.stop()
      }
    }),
  )
}

interface Asking {
  readonly program: string
  readonly folder: string
  readonly host: string
  readonly hosts: number
  readonly seconds: number
  readonly rounds: number
}

/** The servers take turns, so that a busy moment of the machine does not meet one of them only. */
async function measure(servers: Readonly<Record<string, Endpoint>>, size: Asking): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, handshakes } of KINDS) {
    const rates: Record<string, number[]> = Object.fromEntries(Object.keys(servers).map((of) => [of, []]))
    for (let round = 0; round < size.rounds; round += 1)
      for (const [of, server] of Object.entries(servers))
        rates[of]?.push(await requestsPerSecond({ ...size, server, handshakes }))
    const where = `${size.hosts} hosts: ${name}`
    const ratio = median(rates.ours ?? []) / median(rates['a block per host'] ?? [])
    rows.push(
      ...Object.entries(rates).map(([of, values]) => row(`${where}, ${of}`, '/s', values)),
      row(`${where}, ours : a block per host`, '×', ratio, { least: LEAST_RATIO }),
    )
    if (!rates.Caddy) rows.push(note(`${where}, Caddy`, 'not measured: caddy is not installed'))
  }
  return rows
}
