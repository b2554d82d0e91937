import { createHash, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueCertificate } from '../../../edge/authority/certificate.ts'
import type { SiteDirective } from '../../../estate/adopt/site-text.ts'
import { refusalIn, refusalSentence } from '../../../estate/reading/refusal.ts'
import type { Clock } from '../../../primitives/clock.ts'
import { runCopy } from '../../process/nginx-program.ts'
import { Asker } from './ask.ts'
import { differencesOf, seenAt } from './compare.ts'
import { type CopiedHost, type CopyPlaces, copyText, isGuarded, schemesOf, socketOf } from './copy.ts'
import { CREDENTIALS, guardedQuestions, questionsFor } from './questions.ts'
import { startRecorder } from './recorder.ts'

/** A host, and the paths of its own locations that its backend answers. */
export interface RehearsedHost extends CopiedHost {
  readonly paths: readonly string[]
}

/** The differences between the entry of a host and its site, in the words of `seenAt`; or the reason why they are unknown. */
export type Rehearsal = ReadonlySet<string> | { readonly failed: string }

interface RehearsalParts {
  readonly binary: string
  readonly clock: Clock
}

/** The number of hosts in one copy. */
const HOSTS_PER_COPY = 100
/** The number of hosts that are asked at the same time. */
const LANES = 8
const READY_MS = 5
const LIMIT_MS = 60_000

/**
 * Sends the same questions to the site and the entry of every host, in a copy of nginx that has both. Its backend is a recorder:
 * nothing reaches a real backend, log, cache or socket. Writes files to a temporary folder only.
 */
export async function rehearse(
  hosts: readonly RehearsedHost[],
  http: readonly SiteDirective[],
  parts: RehearsalParts,
): Promise<ReadonlyMap<string, Rehearsal>> {
  const results = new Map<string, Rehearsal>()
  for (let first = 0; first < hosts.length; first += HOSTS_PER_COPY) {
    const some = hosts.slice(first, first + HOSTS_PER_COPY)
    const together = await inCopy(some, http, parts)
    // A host that nginx does not load must not fail the others.
    const found = 'failed' in together && some.length > 1 ? await oneByOne(some, http, parts) : together
    for (const [at, { host }] of some.entries())
      results.set(host, 'failed' in found ? found : (found.each[at] ?? { failed: 'it was not asked' }))
  }
  return results
}

type Asked = { readonly each: readonly Rehearsal[] } | { readonly failed: string }

async function oneByOne(
  hosts: readonly RehearsedHost[],
  http: readonly SiteDirective[],
  parts: RehearsalParts,
): Promise<Asked> {
  const each: Rehearsal[] = []
  for (const host of hosts) {
    const asked = await inCopy([host], http, parts)
    each.push('failed' in asked ? asked : (asked.each[0] ?? { failed: 'it was not asked' }))
  }
  return { each }
}

async function inCopy(
  hosts: readonly RehearsedHost[],
  http: readonly SiteDirective[],
  { binary, clock }: RehearsalParts,
): Promise<Asked> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-copy-'))
  const recorder = await startRecorder()
  const asker = new Asker(recorder, clock)
  const stopping = new AbortController()
  const places = writePlaces(folder, recorder.address, clock)
  writeFileSync(join(folder, 'nginx.conf'), copyText(http, hosts, places), { mode: 0o600 })
  const ended = runCopy({ binary, clock }, folder, stopping.signal).then(
    ({ errors }) => refusalSentence(refusalIn(errors)),
    () => 'nginx cannot be run',
  )
  try {
    const failed = await untilReady(folder, ended, clock)
    if (failed !== undefined) return { failed }
    const each = new Array<Rehearsal>(hosts.length)
    const waiting = [...hosts.entries()]
    const lane = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        each[next[0]] = await compared(next[1], next[0], isGuarded(next[1], http), folder, asker)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    return { each }
  } finally {
    stopping.abort()
    asker.close()
    recorder.stop()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The reason if nginx ends before it is ready. It writes its pid file after it has opened its sockets. */
async function untilReady(folder: string, ended: Promise<string>, clock: Clock): Promise<string | undefined> {
  let reason: string | undefined
  void ended.then((why) => {
    reason = why
  })
  for (const until = clock.monotonic() + LIMIT_MS; clock.monotonic() < until; await clock.sleep(READY_MS)) {
    if (reason !== undefined) return reason
    if (existsSync(join(folder, 'nginx.pid'))) return undefined
  }
  return 'nginx did not start in time'
}

async function compared(
  copied: RehearsedHost,
  index: number,
  hasGuards: boolean,
  folder: string,
  asker: Asker,
): Promise<Rehearsal> {
  const { host, paths } = copied
  const found = new Set<string>()
  const tables = [
    { variant: 'open', questions: questionsFor(host, paths) },
    ...(hasGuards ? [{ variant: 'guarded', questions: guardedQuestions(paths) } as const] : []),
  ] as const
  for (const scheme of schemesOf(copied))
    for (const { variant, questions } of tables)
      for (const question of questions) {
        const at = (side: 'site' | 'entry') => ({
          socketPath: socketOf(folder, index, side, variant, scheme),
          scheme,
          host,
        })
        const [site, entry] = await Promise.all([asker.ask(at('site'), question), asker.ask(at('entry'), question)])
        if (site.status === 0 && entry.status === 0) return { failed: 'a request was not answered' }
        for (const difference of differencesOf(site, entry)) found.add(seenAt(scheme, difference))
      }
  return found
}

function writePlaces(folder: string, recorder: string, clock: Clock): CopyPlaces {
  const at = (name: string) => join(folder, name)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const wish = { name: 'rehearsal', publicKey, use: 'server', from: clock.now(), lifeMs: 3_600_000 } as const
  const certificate = issueCertificate(wish, { name: 'rehearsal', key: privateKey })
  const hash = createHash('sha1').update(CREDENTIALS.password).digest('base64')
  const write = (name: string, text: string | Buffer) => writeFileSync(at(name), text, { mode: 0o600 })
  write('copy.crt', certificate)
  write('copy.key', privateKey.export({ type: 'pkcs8', format: 'pem' }))
  write('passwords', `${CREDENTIALS.name}:{SHA}${hash}\n`)
  return { folder, recorder, certificate: at('copy.crt'), key: at('copy.key'), passwords: at('passwords') }
}
