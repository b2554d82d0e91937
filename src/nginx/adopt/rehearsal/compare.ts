import type { Outcome } from './ask.ts'

/**
 * How two outcomes differ. Findings announce differences in the same words: `status`, `redirect status`, `redirect target`,
 * `reached`, `upload`, `upgrade`, `body`, `path`, `version`, `method`, `payload`, `answer NAME` and `request NAME`.
 */
export type Difference = string

/** Headers that change with time, or follow from the length of the body. */
const PASSING = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'])

export function differencesOf(site: Outcome, entry: Outcome): Difference[] {
  if (site.status === 100 || entry.status === 100 || site.status === 413 || entry.status === 413)
    return site.status === entry.status ? [] : ['upload']
  if (site.status === 101 || entry.status === 101)
    return [...(site.status === entry.status ? [] : ['upgrade']), ...backendDifferences(site, entry)]
  if (isRedirectOfNginx(site) && isRedirectOfNginx(entry)) return redirectDifferences(site, entry)
  if (site.status !== entry.status) return ['status', ...backendDifferences(site, entry)]
  const isWritten = site.backend !== undefined && entry.backend !== undefined
  return [
    ...inHeaders('answer', site.headers, entry.headers, PASSING),
    ...(isWritten && site.body !== entry.body ? ['body'] : []),
    ...backendDifferences(site, entry),
  ]
}

const isRedirectOfNginx = ({ status, backend, headers }: Outcome): boolean =>
  backend === undefined && status >= 300 && status < 400 && headers.location !== undefined

function redirectDifferences(site: Outcome, entry: Outcome): Difference[] {
  const others = new Set([...PASSING, 'location', 'content-type'])
  return [
    ...(site.status === entry.status ? [] : ['redirect status']),
    ...(site.headers.location === entry.headers.location ? [] : ['redirect target']),
    ...inHeaders('answer', site.headers, entry.headers, others),
  ]
}

function backendDifferences({ backend: site }: Outcome, { backend: entry }: Outcome): Difference[] {
  if (!site && !entry) return []
  if (!site || !entry) return ['reached']
  return [
    ...(site.method === entry.method ? [] : ['method']),
    ...(site.path === entry.path ? [] : ['path']),
    ...(site.version === entry.version ? [] : ['version']),
    ...(site.body === entry.body ? [] : ['payload']),
    ...inHeaders('request', site.headers, entry.headers, new Set()),
  ]
}

function inHeaders(
  kind: 'answer' | 'request',
  site: Outcome['headers'],
  entry: Outcome['headers'],
  passing: ReadonlySet<string>,
): Difference[] {
  const names = new Set([...Object.keys(site), ...Object.keys(entry)])
  return [...names].filter((name) => !passing.has(name) && site[name] !== entry[name]).map((name) => `${kind} ${name}`)
}

/** A difference with its scheme, such as `http status` or `https answer etag`. */
export const seenAt = (scheme: 'http' | 'https', difference: Difference): string => `${scheme} ${difference}`

/** Whether a finding announces a difference. A finding may name the scheme, and may have `*` in place of a name. */
export function isTold(seen: string, told: ReadonlySet<string>): boolean {
  const [scheme = '', ...words] = seen.split(' ')
  const what = words.join(' ')
  const every = `${words[0]} *`
  return [what, every, `${scheme} *`, `${scheme} ${what}`, `${scheme} ${every}`].some((one) => told.has(one))
}

/** The sentence for a difference that no finding announces. */
export function sentenceOf(seen: string): string {
  const difference = seen.replace(/^https? /, '')
  const [kind = '', name] = difference.split(' ')
  if (name !== undefined && kind === 'answer') return `In a rehearsal visitors got another header ${name}.`
  if (name !== undefined && kind === 'request') return `In a rehearsal the backend got another header ${name}.`
  return SENTENCES[difference] ?? 'In a rehearsal the entry answered otherwise.'
}

const SENTENCES: Readonly<Record<Difference, string>> = {
  status: 'In a rehearsal visitors got another status.',
  'redirect status': 'In a rehearsal visitors were redirected with another status.',
  'redirect target': 'In a rehearsal visitors were redirected elsewhere.',
  reached: 'In a rehearsal a request reached the backend that does not reach it now, or the other way round.',
  upload: 'In a rehearsal bodies of another size were let in.',
  upgrade: 'In a rehearsal upgrades were passed on otherwise.',
  body: 'In a rehearsal visitors got another body.',
  path: 'In a rehearsal the backend got another path.',
  version: 'In a rehearsal the backend was asked by another version of HTTP.',
  method: 'In a rehearsal the backend got another method.',
  payload: 'In a rehearsal the backend got another body.',
}
