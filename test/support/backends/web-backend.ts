import { createServer, type RequestListener } from 'node:http'
import type { TestLab } from '../lab/lab.ts'
import { listening } from '../listening.ts'

export interface WebBackend extends AsyncDisposable {
  readonly port: number
  /** The number of requests through an edge. */
  readonly throughEdge: () => number
}

/**
 * A web server, by default on server 25 of the lab. It answers a direct request with 200 after `askedDirectly`, and a request
 * through an edge with `answer`.
 */
export async function startWebBackend(
  { description }: Pick<TestLab, 'description'>,
  answer: RequestListener,
  address = description.backends.find(({ server }) => server === '25')?.address,
  port = 0,
  askedDirectly: () => Promise<void> = async () => undefined,
): Promise<WebBackend> {
  let through = 0
  const server = createServer((request, response) => {
    if (request.headers['x-forwarded-for'] === undefined) void askedDirectly().then(() => response.end('directly\n'))
    else {
      through += 1
      answer(request, response)
    }
  })
  return { ...(await listening(server, { address, port })), throughEdge: () => through }
}
