import { isInZone } from '../../model/dns-name.ts'
import { escapeText } from '../../model/escape-text.ts'
import type { ChangeItem } from '../contract/change.ts'
import type { Edge } from '../contract/edge.ts'
import { EdgeFault } from '../contract/fault.ts'
import { itemFault } from '../engine/decide.ts'
import { areServedAlike, type Entry, targetUrl } from '../record/entry.ts'
import type { AgentMachine } from './machine.ts'

/** The allowed targets of this edge's entries. */
export interface AllowedTargets {
  readonly addresses: readonly string[]
  /** Each range from first to last port, both included. */
  readonly ports: readonly (readonly [number, number])[]
}

interface AcceptanceParts {
  readonly targets: AllowedTargets
  readonly machine: Pick<AgentMachine, 'entryOf'>
  readonly edge: Pick<Edge, 'list'>
  /**
   * Whether edge.yaml allows adopting hand-written sites. Sites that a plan has already taken out stay known: an undo needs them.
   */
  readonly adopts: boolean
  /** The zones of the hosts that may have entries. */
  readonly zones: readonly string[]
}

export const NO_ZONES =
  'edge.yaml has no zones, so no new host is taken. Add the zones that its services expose, such as zones: [example.test], and restart the agent'

/**
 * Decides which changes an agent accepts from a service. Treat the service as compromised: it must be able to send nothing except a
 * record of the grammar, for a host of an allowed zone, with allowed targets.
 */
export class Acceptance {
  readonly #parts: AcceptanceParts

  constructor(parts: AcceptanceParts) {
    this.#parts = parts
  }

  /** Rejects with `change_invalid` at the first item that is not acceptable. */
  async assertAcceptable(items: readonly ChangeItem[]): Promise<void> {
    const hosts = items.map(({ host }) => host)
    const twice = repeated(hosts)
    if (twice !== undefined) throw refused(twice, 'It is named twice')
    for (const item of items) {
      const reason = this.#fault(item)
      if (reason !== undefined) throw refused(item.host, reason)
    }
    await this.assertFenceable(hosts)
  }

  /** Fences are kept for ever, so only hosts that may have entries get one, and hosts that have an entry. */
  async assertFenceable(hosts: readonly string[]): Promise<void> {
    const foreign = hosts.filter((host) => this.#zoneFault(host) !== undefined && !this.#parts.machine.entryOf(host))
    if (foreign.length === 0) return
    const unknown = (await this.#parts.edge.list(foreign)).hosts.find(({ fence }) => fence === null)
    if (unknown) throw refused(unknown.host, this.#zoneFault(unknown.host) ?? '')
  }

  #fault(item: ChangeItem): string | undefined {
    const { host, wanted, takesOver } = item
    const fault = itemFault(item)
    if (fault !== undefined) return fault
    if (takesOver && !this.#parts.adopts && wanted !== 'before') return 'edge.yaml does not set adopt.enabled'
    if (typeof wanted !== 'object' || !('host' in wanted)) return undefined
    return this.#entryFault(host, wanted)
  }

  #entryFault(host: string, entry: Entry): string | undefined {
    const outOfZones = this.#zoneFault(host)
    // A served host gets its next certificate even if it is outside the zones.
    if (outOfZones !== undefined && !this.#isServedAs(entry)) return outOfZones
    const other = entry.targets.find(({ address, port }) => !this.#isAllowed(address, port))
    return other && `${targetUrl(other)} is not among the targets of edge.yaml`
  }

  #isServedAs(entry: Entry): boolean {
    const now = this.#parts.machine.entryOf(entry.host)
    return now !== undefined && areServedAlike({ ...now, certificate: null }, { ...entry, certificate: null })
  }

  #isAllowed(address: string, port: number): boolean {
    const { addresses, ports } = this.#parts.targets
    return addresses.includes(address) && ports.some(([first, last]) => port >= first && port <= last)
  }

  #zoneFault(host: string): string | undefined {
    const { zones } = this.#parts
    if (zones.some((zone) => isInZone(host, zone))) return undefined
    return zones.length === 0 ? NO_ZONES : 'The host is in none of the zones of edge.yaml'
  }
}

/** The first text that occurs more than once. */
function repeated(texts: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return texts.find((text) => seen.size === seen.add(text).size)
}

const refused = (host: string, reason: string): EdgeFault =>
  new EdgeFault('change_invalid', `The agent does not accept ${escapeText(host.slice(0, 253))}: ${reason}.`)
