import type { ProxyFact } from '../model/finding.ts'
import { hostFile } from './config/layout.ts'
import type { EdgePreflight } from './contract.ts'
import { debugLogs } from './process/debug-logs.ts'
import { testConfiguration } from './process/nginx-program.ts'
import type { EdgeMap, EdgeReader } from './reading/contract.ts'
import type { Refusal } from './reading/refusal.ts'
import { canonicalAddress } from './reading/text/listen.ts'
import type { EdgeSettings } from './settings.ts'

/**
 * How long a passed test is valid while no configuration file changes. Other inputs of nginx (certificates outside Drawbridge,
 * DNS names in the configuration) may change unnoticed in this time. An apply always runs the test again.
 */
const PASSED_TEST_TTL_MS = 5 * 60_000

export interface LocalPreflight extends EdgePreflight {
  /** nginx runs the configuration that was on disk at `since` (milliseconds). It needs no test until a file changes. */
  markLoaded(since: number): void
}

/** `test` runs `nginx -t` on the configuration on disk. */
export function edgePreflight(
  settings: EdgeSettings,
  reader: EdgeReader,
  test: () => Promise<Refusal | undefined> = () => testConfiguration(settings, settings.config),
): LocalPreflight {
  const soundness = new ConfigTestCache(test)
  const debugging = debugLogOf(settings)
  return {
    async check(host, tls) {
      try {
        const map = await reader.read()
        const refusal = (await soundness.refusal(map)) ?? (tls ? debugging(map) : undefined)
        return refusal ? brokenBy(refusal) : (rivalOf(host, map, settings) ?? { kind: 'free' })
      } catch {
        return { kind: 'unknown' }
      }
    },
    markLoaded: (since) => soundness.loaded(since),
  }
}

const brokenBy = ({ reason, file, line }: Refusal): ProxyFact => ({
  kind: 'broken',
  reason,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
})

/** Cached by the fingerprint of the configuration files. */
function debugLogOf(settings: EdgeSettings): (map: EdgeMap) => Refusal | undefined {
  let known: { readonly fingerprint: string; readonly refusal: Refusal | undefined } | undefined
  return ({ fingerprint }) => {
    if (known?.fingerprint !== fingerprint) {
      const [log] = debugLogs(settings)
      known = { fingerprint, refusal: log && { reason: LOGS_KEYS, file: log.path, line: log.line ?? undefined } }
    }
    return known.refusal
  }
}

const LOGS_KEYS = 'it is configured to log at debug level, which writes private keys into its log'

/**
 * The server block that would answer instead of an entry for the host, on either port: a name that another block serves by
 * TLS only is taken, too. A default server conflicts only on the address that visitors use. On other addresses, such as the
 * loopback, it answers no request for our names.
 */
function rivalOf(host: string, map: EdgeMap, { folder, address, listen, ports }: EdgeSettings): ProxyFact | undefined {
  const own = `${folder}/${hostFile(host)}`
  const places = listen.flatMap((one) => [ports.http, ports.https].map((port) => ({ address: one, port })))
  const visited = canonicalAddress(address)
  const rival = places
    .flatMap((place) => map.rivals(host, own, place))
    .find(({ how, address: at }) => how !== 'default' || at === visited)
  return rival && { kind: 'taken', how: rival.how, file: rival.block.configPath, line: rival.block.line }
}

/** Remembers which files nginx has loaded or tested. A failed test is repeated each time: its cause may be outside these files. */
class ConfigTestCache {
  readonly #test: () => Promise<Refusal | undefined>
  #passed: { readonly fingerprint: string; readonly at: number } | undefined
  #loadedSince = Number.NEGATIVE_INFINITY
  #underWay: { readonly fingerprint: string; readonly refusal: Promise<Refusal | undefined> } | undefined

  constructor(test: () => Promise<Refusal | undefined>) {
    this.#test = test
  }

  loaded(since: number): void {
    this.#loadedSince = since
  }

  async refusal({ fingerprint, changedAt }: EdgeMap): Promise<Refusal | undefined> {
    if (changedAt <= this.#loadedSince) return undefined
    if (this.#passed?.fingerprint === fingerprint && performance.now() - this.#passed.at < PASSED_TEST_TTL_MS)
      return undefined
    if (this.#underWay?.fingerprint !== fingerprint) this.#underWay = { fingerprint, refusal: this.#run(fingerprint) }
    return this.#underWay.refusal
  }

  async #run(fingerprint: string): Promise<Refusal | undefined> {
    try {
      const refusal = await this.#test()
      if (!refusal) this.#passed = { fingerprint, at: performance.now() }
      return refusal
    } finally {
      if (this.#underWay?.fingerprint === fingerprint) this.#underWay = undefined
    }
  }
}
