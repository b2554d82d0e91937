import type { LabDescription } from '../lab/description.ts'
import type { Hosts } from '../src/client/bodies.ts'
import { allHosts } from '../src/client/pages.ts'
import { onKeptLab } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { commandRows } from './commands.ts'
import { timed } from './measure.ts'
import { pageRows } from './page.ts'
import { readerRows } from './reader.ts'
import { labelOf } from './seed.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

/** Everything that only reads, with many hosts: the API, the command line, the web page, and the reader of nginx's files. */
export async function benchReads({ reads: size }: Sizes): Promise<Row[]> {
  const ofReader = await readerRows(size)
  const rows = await onKeptLab({ hosts: size.hosts, tls: 'wildcard' }, async ({ description: lab }) => [
    ...(await apiRows(lab, size)),
    ...(await commandRows(lab, size.hosts, size.rounds)),
    ...(await pageRows(lab, size)),
  ])
  return [...rows, ...ofReader]
}

async function apiRows(lab: LabDescription, { hosts, rounds }: Sizes['reads']): Promise<Row[]> {
  const caller = new Caller(lab)
  const hostAt = (round: number) => `${labelOf((round * 7919) % hosts)}.${lab.zone}`
  const listed = (query: Record<string, string>) => caller.get<Hosts>(`/api/hosts?${new URLSearchParams(query)}`)
  const reads: Record<string, (round: number) => Promise<unknown>> = {
    'GET /api/hosts, one page': () => listed({}),
    'GET /api/hosts, all pages': () => allHosts(listed, {}),
    'GET /api/health of one host': (round) => caller.get(`/api/health?host=${hostAt(round)}`),
    'GET /api/diagnose of one host': (round) => caller.get(`/api/diagnose?host=${hostAt(round)}`),
    'GET /api/policy': () => caller.get('/api/policy'),
  }
  const rows: Row[] = []
  for (const [name, read] of Object.entries(reads)) {
    const samples: number[] = []
    for (let round = 0; round < rounds; round += 1) samples.push(await timed(() => read(round)))
    rows.push(row(`${hosts} hosts: ${name}`, 'ms', samples))
  }
  caller.close()
  return rows
}
