import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Edge } from '../../edge/contract/edge.ts'
import type { Entry } from '../../edge/record/entry.ts'
import { entryProof } from '../../edge/record/proof.ts'

/** Does for a host without DNS what an apply does, with a backend of its own. */
export async function serveTestEntry(edge: Edge, host: string): Promise<void> {
  await edge.prepare()
  const backend = createServer((_request, response) => response.end('rehearsal\n')).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  try {
    const { port } = backend.address() as AddressInfo
    const proof = randomBytes(32).toString('hex')
    const entry: Entry = {
      ...{ host, plan: `plan_${randomBytes(16).toString('hex')}`, certificate: null },
      targets: [{ scheme: 'http', address: '127.0.0.1', port }],
      proof: entryProof(proof, host),
    }
    await change(edge, host, entry)
    const answer = await edge.ask({ host, path: '/', tls: false, proof })
    await change(edge, host, 'absent')
    const isServed = answer.kind === 'answer' && answer.httpStatus === 200 && answer.entry === 'ours'
    if (!isServed) throw new Error(`The test entry was not served: ${notServed(answer)}.`)
  } finally {
    backend.close()
  }
}

async function change(edge: Edge, host: string, wanted: Entry | 'absent'): Promise<void> {
  const [verdict] = await edge.change({
    items: [{ host, fence: { host, epoch: 0, number: 0 }, expected: 'any', wanted }],
  })
  if (verdict?.state === 'refused') throw verdict.fault
}

const notServed = (answer: Awaited<ReturnType<Edge['ask']>>): string => {
  if (answer.kind === 'no_answer') return answer.reason
  return answer.entry === 'ours' ? `HTTP ${answer.httpStatus}` : 'another server of nginx answered'
}
