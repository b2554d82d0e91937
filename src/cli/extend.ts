import { parseDuration } from './duration.ts'

interface ExtendOptions {
  readonly url: string
  readonly for: string
}

/** Prolongs an exposure through the API, as anyone on the internal network may: gets the right and uses it at once. */
export async function extend(planId: string, options: ExtendOptions): Promise<string> {
  const expiresIn = parseDuration(options.for)
  if (expiresIn === undefined) throw new Error(`--for ${options.for} is no duration; say it like 30m, 2h or 7d`)
  const { capability } = await post<{ capability: string }>(options.url, '/api/internal/token', { planId })
  const headers = { 'x-deploy-capability': capability }
  const { expiresAt } = await post<{ expiresAt: string }>(
    options.url,
    '/api/deploy/extend',
    { planId, expiresIn },
    headers,
  )
  return `${planId} lives until ${expiresAt}.`
}

async function post<T>(base: string, path: string, body: unknown, headers = {}): Promise<T> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  const answer = await fetch(new URL(path, base), init).catch(() => {
    throw new Error(`${base} does not answer; name the service with --url or DRAWBRIDGE_URL`)
  })
  const content = (await answer.json()) as T & { detail?: string; nextAction?: string }
  if (!answer.ok) throw new Error(`${content.detail} ${content.nextAction}`)
  return content
}
