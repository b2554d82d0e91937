import type { ChallengeType, InstalledCertificate } from '../../certificates/contract.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { Handshake } from '../../edge/contract/visit.ts'
import { certificateId } from '../../edge/record/entry.ts'
import { type ChosenCertificate, coversHost } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
import { isStopped } from './edge-answers.ts'
import type { ProxyTarget } from './proxy.ts'
import type { Member } from './subject.ts'
import type { EdgeJudge } from './verify.ts'

/**
 * Whether a certificate that covers the host should replace the one in use: it is newer, or lasts longer, or was issued in its
 * place within the same second. Certificates tell times in seconds, and the inventory finds the later one of two such.
 */
export function isBetter(candidate: InstalledCertificate, inUse: ChosenCertificate): boolean {
  if (candidate.fingerprint === inUse.fingerprint) return false
  const newer = candidate.notBefore.getTime() - inUse.notBefore
  const longer = candidate.notAfter.getTime() - inUse.notAfter
  const isReissue = candidate.issued && inUse.ours && candidate.names.join() === inUse.names.join()
  return newer > 0 || longer > 0 || (newer === 0 && longer === 0 && isReissue)
}

/** The names to order: the same again, unless the zone wants a wildcard by now, or one can no longer be had. */
export function namesToRenew(
  host: string,
  inUse: ChosenCertificate,
  wanted: readonly string[],
  challenge: ChallengeType,
): readonly string[] {
  if (wanted.some(isWildcard)) return wanted
  return challenge === 'http-01' && inUse.names.some(isWildcard) ? [host] : inUse.names
}

const isWildcard = (name: string): boolean => name.startsWith('*.')

interface RenewalParts {
  readonly members: readonly Member[]
  /** Gives the edge a certificate, if it does not have it. Resolves with its id. */
  readonly give: (edge: Edge, certificate: ChosenCertificate) => Promise<string>
}

/** Gives all members the certificate that the step before has chosen, in one reload. Everything else of them stays as it is. */
export function renewalTarget({ members, give }: RenewalParts): ProxyTarget {
  const hosts = members.map(({ host }) => host)
  return {
    name: 'proxy',
    hosts,
    isRestored: async (edge) => {
      const shown = await Promise.all(hosts.map((host) => edge.handshake(host)))
      if (shown.every((seen, at) => isShown(seen, members[at]?.receipt.certificate))) return true
      const standing = (await edge.list(hosts)).hosts.map(({ entry }) => entry?.certificate)
      return standing.every((id, at) => id === idOf(members[at])) && isStopped(edge)
    },
    wishes: async (edge, { certificate }) => {
      const covered = hosts.filter((host) => coversHost(certificate?.names ?? [], host))
      if (!certificate || covered.length === 0) return []
      const id = await give(edge, certificate)
      // A Secondary that was away may not have all of them.
      return (await edge.list(covered)).hosts.flatMap(({ host, entry, revision }) =>
        entry === null || revision === null || entry.certificate === null
          ? []
          : [{ host, expected: { revision }, wanted: { ...entry, certificate: id } }],
      )
    },
  }
}

const idOf = (member: Member | undefined): string | undefined =>
  member?.receipt.certificate && certificateId(member.receipt.certificate.fingerprint)

/** The members that the edge serves. A Secondary that was away may not have all of them. */
async function membersOn(edge: Edge, members: readonly Member[], primary: Edge): Promise<readonly Member[]> {
  if (edge === primary) return members
  const { hosts } = await edge.list(members.map(({ host }) => host))
  const there = new Set(hosts.flatMap(({ host, entry }) => (entry ? [host] : [])))
  return members.filter(({ host }) => there.has(host))
}

const isShown = (seen: Handshake, certificate: ChosenCertificate | undefined): boolean =>
  seen.kind === 'certificate' && seen.fingerprint === certificate?.fingerprint

const ATTEMPTS = 3
const PAUSE_MS = 150
const AT_ONCE = 16

/** Reads the certificate of every member by a handshake. The verdict is good if each of them shows the new one. */
export const certificateJudge =
  (members: readonly Member[], primary: Edge, clock: Clock): EdgeJudge =>
  async (edge, { certificate }) => {
    const { server } = edge
    const hosts = (await membersOn(edge, members, primary))
      .map(({ host }) => host)
      .filter((host) => coversHost(certificate?.names ?? [], host))
    for (let i = 0; i < hosts.length; i += AT_ONCE) {
      const wrong = await Promise.all(hosts.slice(i, i + AT_ONCE).map((host) => unlike(edge, host, certificate, clock)))
      const detail = wrong.find((sentence) => sentence !== undefined)
      if (detail !== undefined) return { server, ok: false, detail }
    }
    return {
      server,
      ok: true,
      detail: `The edge shows the certificate for ${hosts.length === 1 ? hosts[0] : `${hosts.length} hosts`}.`,
    }
  }

/** A single failed handshake decides nothing. Undefined if the edge shows the certificate. */
async function unlike(
  edge: Edge,
  host: string,
  certificate: ChosenCertificate | undefined,
  clock: Clock,
): Promise<string | undefined> {
  const isServed = (seen: Handshake) => isShown(seen, certificate)
  const seen = await poll(() => edge.handshake(host), isServed, { firstMs: PAUSE_MS, tries: ATTEMPTS, clock })
  if (isServed(seen)) return undefined
  const shown = seen.kind === 'certificate' ? `serial number ${seen.serial}` : 'no certificate'
  return `The edge ${edge.server} shows ${shown} for ${host}, not serial number ${certificate?.serial ?? 'unknown'}.`
}
