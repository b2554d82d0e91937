import { statSync } from 'node:fs'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type { Clock } from '../../primitives/clock.ts'
import { runVersion } from './nginx-program.ts'

/** The first version with `ssl_reject_handshake`, which refuses unknown names. */
const OLDEST_VERSION = '1.19.4'

/** The first version with the directive `http2`. Later versions warn about the option of `listen`, which all versions have. */
const HTTP2_VERSION = '1.25.1'

/** The output of `nginx -V`: the version, and the default paths. */
export interface NginxBuild {
  readonly version: string
  readonly prefix: string | undefined
  readonly config: string | undefined
  readonly pidFile: string | undefined
  readonly errorLog: string | undefined
  readonly hasTls: boolean
}

/** Rejects with `unavailable` when the program cannot be run, or is not nginx. */
export async function readBuild(binary: string, clock: Clock): Promise<NginxBuild> {
  const text = await runVersion(binary, clock)
  const version = /nginx version: \S*?\/(\d+\.\d+\.\d+)/.exec(text)?.[1]
  if (version === undefined) throw new EdgeFault('unavailable', `${binary} is not nginx.`)
  const option = (name: string) => new RegExp(`--${name}=(\\S+)`).exec(text)?.[1]
  return {
    version,
    prefix: option('prefix'),
    config: option('conf-path'),
    pidFile: option('pid-path'),
    errorLog: option('error-log-path'),
    hasTls: text.includes('--with-http_ssl_module'),
  }
}

/** Why Drawbridge cannot use this nginx, or undefined. */
export function buildFault({ version, hasTls }: NginxBuild): string | undefined {
  if (isOlder(version, OLDEST_VERSION))
    return `nginx ${version} is too old. Drawbridge needs ${OLDEST_VERSION} or later, which can refuse the TLS handshake for unknown names.`
  return hasTls ? undefined : `nginx ${version} was built without TLS (http_ssl_module).`
}

/** Whether this nginx has the directive `http2`. Runs the program again only when it has changed. */
export function http2Reader(binary: string, clock: Clock): () => Promise<boolean> {
  let latest: { readonly changed: number | undefined; readonly has: Promise<boolean> } | undefined
  return async () => {
    const changed = statSync(binary, { throwIfNoEntry: false })?.ctimeMs
    if (changed === undefined && binary.includes('/')) return false
    if (latest?.changed !== changed || !latest) {
      const has = readBuild(binary, clock).then(
        ({ version }) => !isOlder(version, HTTP2_VERSION),
        () => false,
      )
      latest = { changed, has }
    }
    return latest.has
  }
}

function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split('.').map(Number))
  const at = [0, 1, 2].find((index) => one?.[index] !== other?.[index])
  return at !== undefined && (one?.[at] ?? 0) < (other?.[at] ?? 0)
}
