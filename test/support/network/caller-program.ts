// A caller on a machine of the network. It asks what its parent tells it to ask, from the machine's own address. Most callers
// need little, so it loads what reads the store when it is asked for that.
import type { EdgeDescription } from '../../../lab/description.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { type Load, startLoad } from '../backends/load.ts'
import { visit } from '../edge/visitor.ts'
import { call } from '../http/call.ts'
import type { Allowances } from '../lab/invariants.ts'

let load: Load | undefined

export const QUESTIONS = {
  call,
  visit,
  beginVisits: async (edge: EdgeDescription, host: string): Promise<void> => {
    load = startLoad(edge, host, '/healthz', { tls: true, perSecond: 20 })
  },
  endVisits: async () => load?.stop() ?? { served: 0, failures: [] },
  /** Rejects with every invariant that is violated. Asked on a machine that the database and the zone know. */
  judge: async (state: string, allowances: Allowances): Promise<void> => {
    const { judgeNetwork } = await import('./judge.ts')
    await judgeNetwork(state, allowances)
  },
  /** The answer of the database to a client with the password, or the code of its refusal. */
  database: async (url: string): Promise<string> => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => undefined)
    return client.connect().then(
      () => client.end().then(() => 'connected'),
      (error: { code?: string; message: string }) => error.code ?? error.message,
    )
  },
  /** The addresses of a name, as one name server tells them. `undefined`: no answer. */
  addresses: async (server: Parameters<typeof dnsReader>[0], name: string): Promise<string[] | undefined> => {
    const [outcome] = await dnsReader(server, { limitMs: 5_000 }).ask([{ name, type: 'A' }])
    return outcome?.kind === 'answer' ? outcome.answers.map(({ rdata }) => rdata.join('.')) : undefined
  },
}

export interface Asked {
  readonly id: number
  readonly question: keyof typeof QUESTIONS
  readonly args: readonly unknown[]
}

export interface Told {
  readonly id: number
  readonly answer?: unknown
  readonly failure?: string
}

if (process.send) {
  process.on('message', ({ id, question, args }: Asked) => {
    const ask = QUESTIONS[question] as (...args: readonly unknown[]) => Promise<unknown>
    ask(...args).then(
      (answer) => process.send?.({ id, answer } satisfies Told),
      (error: NodeJS.ErrnoException) => process.send?.({ id, failure: error.code ?? error.message } satisfies Told),
    )
  })
  process.once('disconnect', () => process.exit(0))
}
