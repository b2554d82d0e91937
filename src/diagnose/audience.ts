import { parseAddress } from '../model/address.ts'
import type { Evidence, Target } from '../model/evidence.ts'
import { shown } from '../model/foreign-text.ts'

/** Who is told, and which addresses have an id here. Outside, only those are spoken of. */
export interface Audience {
  readonly network: 'internal' | 'public'
  /** The registry: id -> address. */
  readonly servers: Readonly<Record<string, string>>
}

export const serverAt = (address: string, { servers }: Audience): string | undefined =>
  Object.entries(servers).find(([, registered]) => registered === address)?.[0]

export const maySee = (address: string, audience: Audience): boolean =>
  audience.network === 'internal' || serverAt(address, audience) !== undefined

/** How things are called in sentences for this audience. */
export interface Words {
  /** Where requests are passed on to: `port 3000 of server 25`. */
  readonly backend: string
  /** The machine behind it, for advice: `server 25`, or an address, but never a name that others chose. */
  readonly machine: string
  readonly addresses: (found: readonly string[]) => string
  /** What only callers inside are told; the other sentence is for everybody. */
  readonly inside: (sentence: string, outside: string) => string
}

export function wordsFor({ target }: Evidence, audience: Audience): Words {
  return {
    backend: backendName(target.target, target.address, audience),
    machine: machineName(target.target, target.address, audience),
    addresses: (found) =>
      audience.network === 'internal' && found.length > 0 ? found.map(shown).join(', ') : 'another address',
    inside: (sentence, outside) => (audience.network === 'internal' ? sentence : outside),
  }
}

function backendName(target: Target | null, address: string | null, audience: Audience): string {
  if (!target) return 'its backend'
  const server = serverAt(address ?? target.host, audience)
  if (server !== undefined) return `port ${target.port} of server ${server}`
  return maySee(target.host, audience) ? `${shown(target.host)} port ${target.port}` : 'its backend'
}

function machineName(target: Target | null, address: string | null, audience: Audience): string {
  const known = address ?? (target && parseAddress(target.host))
  if (known === null || known === undefined) return 'the machine of the backend'
  const server = serverAt(known, audience)
  if (server !== undefined) return `server ${server}`
  return maySee(known, audience) ? known : 'the machine of the backend'
}
