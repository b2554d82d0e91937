import { request } from 'node:https'
import { takes } from '../delay.ts'
import { answered } from '../http/call.ts'

export interface Place {
  readonly address: string
  readonly host: string
  /** PEM of the trusted roots. */
  readonly ca: string
}

/** The answer to one visit on a new connection: the status, or what went wrong. */
export function visit({ address, host, ca }: Place): Promise<number | string> {
  const asking = request({ host: address, servername: host, headers: { host }, ca, agent: false, timeout: 10_000 })
  asking.once('timeout', () => asking.destroy(new Error('no answer within 10 s')))
  return answered(asking).then(
    ({ status }) => status,
    (error: Error) => error.message,
  )
}

const VISITORS = 4
const PAUSE_MS = 5

/** Visits the host again and again until `work` has ended. */
export async function visitedDuring(place: Place, work: () => Promise<unknown>) {
  let isOver = false
  const counts = { answered: 0, failed: [] as (number | string)[] }
  const visitor = async () => {
    while (!isOver) {
      const answer = await visit(place)
      if (answer === 200) counts.answered += 1
      else counts.failed.push(answer)
      await takes(PAUSE_MS)
    }
  }
  const visitors = Promise.all(Array.from({ length: VISITORS }, visitor))
  await work().finally(() => {
    isOver = true
  })
  await visitors
  return counts
}
