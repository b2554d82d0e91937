import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Edge } from '../../edge/contract.ts'

/** Does for a host without DNS what an apply does, with a backend of its own. */
export async function serveTestEntry(edge: Edge, host: string): Promise<void> {
  await edge.prepare()
  const backend = createServer((_request, response) => response.end('rehearsal\n')).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  try {
    const { port } = backend.address() as AddressInfo
    const proof = randomBytes(32).toString('hex')
    const planId = `plan_${randomBytes(16).toString('hex')}`
    const site = { host, planId, target: `http://127.0.0.1:${port}`, proof }
    await change(edge, () => edge.filesFor(site))
    const answer = await edge.ask({ host, path: '/', tls: false, proof })
    await change(edge, () => edge.filesWithout(host))
    const isServed = answer.kind === 'answer' && answer.httpStatus === 200 && answer.entry === 'ours'
    if (!isServed) throw new Error(`The test entry was not served: ${notServed(answer)}.`)
  } finally {
    backend.close()
  }
}

const change = (edge: Edge, filesOf: () => ReturnType<Edge['filesWithout']>): Promise<void> =>
  edge.change({
    async propose() {
      const files = await filesOf()
      return { files, expected: await edge.hashFiles(files.map(({ path }) => path)) }
    },
    assertHeld: () => undefined,
  })

const notServed = (answer: Awaited<ReturnType<Edge['ask']>>): string => {
  if (answer.kind === 'no_answer') return answer.reason
  return answer.entry === 'ours' ? `HTTP ${answer.httpStatus}` : 'another server of nginx answered'
}
