// A caller on a machine of the network. It asks what its parent tells it to ask, from the machine's own address.
import { dnsReader } from '../../../src/dns/reader.ts'
import { visit } from '../edge/visitor.ts'
import { call } from '../http/call.ts'

export const QUESTIONS = {
  call,
  visit,
  /** The addresses of a name, as one name server tells them. `undefined`: no answer. */
  addresses: async (server: Parameters<typeof dnsReader>[0], name: string): Promise<string[] | undefined> => {
    const [outcome] = await dnsReader(server, { limitMs: 1_000 }).ask([{ name, type: 'A' }])
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
