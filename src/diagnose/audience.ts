import { parseAddress } from '../model/address.ts'
import { escapeText } from '../model/escape-text.ts'
import type { Evidence, Target } from '../model/evidence.ts'

/** The reader of a diagnosis. Public readers see only addresses that are in the registry. */
export interface Audience {
  readonly network: 'internal' | 'public'
  /** The registry: id -> address. */
  readonly servers: Readonly<Record<string, string>>
  /** The configuration file on the server, for commands there. */
  readonly configFile: string
}

export const serverAt = (address: string, { servers }: Audience): string | undefined =>
  Object.entries(servers).find(([, registered]) => registered === address)?.[0]

export const maySee = (address: string, audience: Audience): boolean =>
  audience.network === 'internal' || serverAt(address, audience) !== undefined

/** The terms for sentences to this audience. */
export interface Words {
  /** The proxy target: `port 3000 of server 25`. */
  readonly backend: string
  /** The backend's machine, for advice: `server 25`, or an address. Never a name from a configuration file. */
  readonly machine: string
  readonly addresses: (found: readonly string[]) => string
  /** The command that ends the blocked run of the host, without a full stop. */
  readonly resolve: string
  /** Returns the first sentence for callers on the internal network, the second for others. */
  readonly inside: (sentence: string, outside: string) => string
}

export function wordsFor({ target, exposure }: Evidence, audience: Audience): Words {
  return {
    backend: backendName(target.target, target.address, audience),
    machine: machineName(target.target, target.address, audience),
    addresses: (found) =>
      audience.network === 'internal' && found.length > 0 ? found.map(escapeText).join(', ') : 'another address',
    resolve: `drawbridge resolve ${exposure?.planId ?? 'PLAN'} --config ${forShell(audience.configFile)}`,
    inside: (sentence, outside) => (audience.network === 'internal' ? sentence : outside),
  }
}

/** A path as one word of a shell. */
const forShell = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

function backendName(target: Target | null, address: string | null, audience: Audience): string {
  if (!target) return 'its backend'
  const server = serverAt(address ?? target.host, audience)
  if (server !== undefined) return `port ${target.port} of server ${server}`
  return maySee(target.host, audience) ? `${escapeText(target.host)} port ${target.port}` : 'its backend'
}

function machineName(target: Target | null, address: string | null, audience: Audience): string {
  const known = address ?? (target && parseAddress(target.host))
  if (known === null || known === undefined) return 'the machine of the backend'
  const server = serverAt(known, audience)
  if (server !== undefined) return `server ${server}`
  return maySee(known, audience) ? known : 'the machine of the backend'
}
