import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EdgeFault } from '../../src/edge/contract/fault.ts'
import { EDGE_NAME, type EdgeAnswer, type EdgeQuestion, type Handshake } from '../../src/edge/contract/visit.ts'
import { entryProof } from '../../src/edge/record/proof.ts'
import type { Nginx } from '../../src/nginx/process/nginx.ts'
import type { Timeline } from './timeline.ts'

/** A host as nginx serves it. */
interface Served {
  readonly target: string
  readonly proof: string | undefined
  readonly certificate: string | undefined
}

const [TEST_MS, RELOAD_MS, ANSWER_MS] = [12, 40, 2]

/** What makes a main file invalid. */
const BROKEN = 'no_such_directive;'

/**
 * The program nginx: it reads files when it tests and when it loads, and serves what it has loaded. Of the language it reads what
 * Drawbridge writes: includes, server names, and the values of maps.
 */
export class SimulatedNginx implements Nginx {
  /** `unproven`: it loads the configuration, but nothing proves it. `deaf`: it loads nothing. */
  reloads: 'well' | 'unproven' | 'deaf' = 'well'
  isUp = true
  /** The status with which backends answer, 200 where none is told. */
  readonly statuses = new Map<string, number>()
  onLoad: () => void = () => undefined
  /** What a visitor sees of the certificate with this id. */
  shown: (id: string | undefined, host: string) => Handshake = () => ({ kind: 'refused' })
  readonly #timeline: Timeline
  readonly #config: string
  #served: ReadonlyMap<string, Served> = new Map()
  #loadedText = ''

  constructor(timeline: Timeline, config: string) {
    this.#timeline = timeline
    this.#config = config
  }

  get served(): ReadonlyMap<string, Served> {
    return this.#served
  }

  /** Whether what it serves is what stands on disk. */
  get isUpToDate(): boolean {
    return this.#loadedText === textOf(this.#config)
  }

  start(): void {
    this.isUp = true
    this.#load()
  }

  isRunning = (): boolean => this.isUp

  async test(config: string) {
    await this.#timeline.sleep(TEST_MS)
    const text = textOf(config)
    return text.includes(BROKEN) ? { reason: 'nginx -t failed' } : undefined
  }

  async reload(): Promise<void> {
    await this.#timeline.sleep(RELOAD_MS)
    if (!this.isUp) throw new EdgeFault('not_reloaded', 'nginx does not run.')
    if (this.reloads !== 'deaf' && !this.#load())
      throw new EdgeFault('not_reloaded', 'nginx refused its configuration.')
    if (this.reloads !== 'well') throw new EdgeFault('not_reloaded', 'Nothing proves the reload.')
  }

  async answers(): Promise<boolean> {
    await this.#timeline.sleep(ANSWER_MS)
    return this.isUp
  }

  async ask({ host, tls, proof }: EdgeQuestion): Promise<EdgeAnswer> {
    await this.#timeline.sleep(ANSWER_MS)
    if (!this.isUp) return { kind: 'no_answer', reason: 'refused' }
    const served = this.#served.get(host)
    if (host === EDGE_NAME || !served) return { kind: 'no_answer', reason: 'unknown_host' }
    const expected = proof === undefined ? undefined : entryProof(proof, host)
    const isOurs = expected && served.proof === `${expected.question}:${expected.answer}`
    const httpStatus = served.certificate !== undefined && !tls ? 308 : (this.statuses.get(served.target) ?? 200)
    const certificate = tls ? this.#certificateOf(host) : undefined
    return {
      ...{ kind: 'answer', httpStatus, latencyMs: ANSWER_MS },
      ...(expected && { entry: isOurs ? 'ours' : 'other' }),
      ...(certificate && { certificate }),
    }
  }

  foreignListeners = async (): Promise<readonly string[]> => []

  /** It shows a certificate only if it has loaded the pair. */
  async handshake(host: string): Promise<Handshake> {
    await this.#timeline.sleep(ANSWER_MS)
    if (!this.isUp) return { kind: 'unknown' }
    return this.#shownFor(host)
  }

  #shownFor(host: string): Handshake {
    const id = this.#served.get(host)?.certificate
    return this.shown(id !== undefined && this.#loadedText.includes(`\n${id} "`) ? id : undefined, host)
  }

  #certificateOf(host: string): (EdgeAnswer & { readonly kind: 'answer' })['certificate'] {
    const shown = this.#shownFor(host)
    if (shown.kind !== 'certificate') return undefined
    const { fingerprint, names, coversHost, notBefore, notAfter } = shown
    const iso = (at: number) => new Date(at).toISOString()
    return { fingerprint, names, coversHost, notBefore: iso(notBefore), notAfter: iso(notAfter) }
  }
  debugLogs = async () => []

  /** Whether it took the configuration. One that it refuses leaves the former one running. */
  #load(): boolean {
    const text = textOf(this.#config)
    if (text.includes(BROKEN)) return false
    this.#loadedText = text
    this.#served = servedIn(text)
    this.onLoad()
    return true
  }
}

/** A file with everything that it includes in the place of its include lines. */
function textOf(file: string): string {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text.replaceAll(/include ([^;]+);/g, (_, pattern: string) =>
    filesOf(pattern)
      .map((path) => `\n# ${kindOf(path)}\n${textOf(path)}`)
      .join(''),
  )
}

const filesOf = (pattern: string): string[] => {
  const [folder, name] = [dirname(pattern), pattern.slice(pattern.lastIndexOf('/') + 1)]
  if (!name.startsWith('*')) return existsSync(pattern) ? [pattern] : []
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter((one) => one.endsWith(name.slice(1)) && !one.startsWith('.'))
    .toSorted()
    .map((one) => join(folder, one))
}

const kindOf = (path: string): string => /\/generations\/\d+\/(.+)\/[^/]+$/.exec(path)?.[1] ?? 'other'

function servedIn(text: string): ReadonlyMap<string, Served> {
  const parts = new Map<string, string>()
  for (const part of text.split(/\n(?=# (?:names-|backends|answers|tls\/|blocks|challenges|other))/)) {
    const kind = /^# (\S+)/.exec(part)?.[1] ?? 'other'
    parts.set(kind, `${parts.get(kind) ?? ''}\n${part}`)
  }
  const values = (kind: string, pattern: RegExp) =>
    new Map([...(parts.get(kind) ?? '').matchAll(pattern)].map(([, key = '', value = '']) => [key, value]))
  const pairs = /^([a-z0-9.-]+) ([^;\s]+);/gm
  const [backends, answers, certificates] = ['backends', 'answers', 'tls/hosts'].map((kind) => values(kind, pairs))
  // Released entries are server blocks of their own.
  const names = ['names-http', 'names-https', 'other'].flatMap((kind) => [
    ...values(kind, /^\s*server_name ([a-z0-9.-]+)(;)/gm).keys(),
  ])
  return new Map(
    names.map((host) => [
      host,
      { target: backends?.get(host) ?? '', proof: answers?.get(host), certificate: certificates?.get(host) },
    ]),
  )
}
