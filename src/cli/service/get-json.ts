import { request } from 'node:http'

/**
 * Sends one GET and reads the JSON of its answer. Follows no redirect. `fetch` does more, but Node loads a whole HTTP client for it,
 * which takes longer than the answer of the service.
 */
export async function getJson(url: string, signal?: AbortSignal): Promise<unknown> {
  const send = url.startsWith('https:') ? (await import('node:https')).request : request
  const text = await new Promise<string>((resolve, reject) => {
    const asking = send(url, { agent: false, headers: { accept: 'application/json' }, ...(signal && { signal }) })
    asking.once('error', reject)
    asking.once('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.once('error', reject)
      response.once('end', () => resolve(Buffer.concat(parts).toString('utf8')))
    })
    asking.end()
  })
  return JSON.parse(text)
}
