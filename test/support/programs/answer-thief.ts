import { connect, createServer } from 'node:net'
import type { Endpoint } from '../../../src/model/address.ts'
import { type Listening, listening } from '../listening.ts'

export interface AnswerThief extends Listening {
  /** The number of dropped answers. */
  readonly stolen: () => number
}

/**
 * A proxy that forwards requests to a server and closes the connection when the answer comes, without forwarding it. Answers to
 * updates that change nothing pass.
 */
export async function startAnswerThief(server: Endpoint): Promise<AnswerThief> {
  let stolen = 0
  const listener = createServer((client) => {
    const upstream = connect(server.port, server.address)
    upstream.on('error', () => undefined)
    client.on('close', () => upstream.destroy()).pipe(upstream)
    let isRehearsal = false
    client.on('data', (bytes) => {
      isRehearsal ||= bytes.includes('_drawbridge-rehearsal')
    })
    upstream.once('data', (bytes) => {
      if (isRehearsal) return client.end(bytes)
      stolen += 1
      upstream.destroy()
      client.destroy()
    })
  })
  return { ...(await listening(listener)), stolen: () => stolen }
}
