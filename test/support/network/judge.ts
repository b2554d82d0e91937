import { readFileSync } from 'node:fs'
import pg from 'pg'
import type { NetworkDescription } from '../../../network/description.ts'
import { pathsIn } from '../../../network/paths.ts'
import { openStore } from '../../../src/store/open.ts'
import { type Allowances, judge } from '../lab/invariants.ts'

/** Checks the invariants of the network of this state. Must run on machine 23, which the database lets in. */
export async function judgeNetwork(state: string, allowances: Allowances): Promise<void> {
  const paths = pathsIn(state)
  const { zone, dns, edges, machines, logs }: NetworkDescription = JSON.parse(readFileSync(paths.description, 'utf8'))
  const url = readFileSync(paths.of('23', 'secrets', 'store'), 'utf8')
  await judge(
    {
      description: { zone, dns, edges: { primary: edges['23'], secondary: edges['73'] } },
      withStore: async (work) => {
        const store = await openStore({ kind: 'postgres', url })
        return work(store).finally(() => store.close())
      },
      rows: async (query) => {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        return (await client.query(query).finally(() => client.end())).rows
      },
      stateFolders: [paths.of('23', 'service'), paths.of('25', 'service')],
      logs: [logs['23'], logs['25']].flatMap((files) => files?.service ?? []),
      secretFiles: [paths.tsigSecret, paths.databasePassword],
      onMachineOf: (server) => ['nsenter', `--net=${machines[server as '23' | '73'].namespace}`, '--'],
    },
    allowances,
  )
}
