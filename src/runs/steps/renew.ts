import type { ChallengeType, InstalledCertificate } from '../../certificates/contract.ts'
import type { Edge, EdgeFile, Handshake, SiteCertificate } from '../../edge/contract.ts'
import { type Afters, type ChosenCertificate, coversHost, type Receipt } from '../../model/receipt.ts'
import type { Clock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
import type { Step } from '../engine/step.ts'
import type { ProxyParts, ProxyTarget } from './proxy.ts'
import type { EdgeJudge } from './verify.ts'

/** A host whose certificate is replaced. */
export interface Member {
  readonly host: string
  readonly planId: string
  readonly receipt: Receipt
}

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
  readonly primary: Edge
  readonly pairOf: (certificate: ChosenCertificate) => Promise<SiteCertificate>
  readonly backedUp: (afters: Afters) => Promise<readonly EdgeFile[]>
}

/** Gives all members the certificate that the step before has chosen, in one reload. Their other files stay as they are. */
export function renewalTarget({ members, primary, pairOf, backedUp }: RenewalParts): ProxyTarget {
  return {
    name: 'proxy',
    ours: async (edge) =>
      edge === primary
        ? members.flatMap(({ receipt }) => [...receipt.files, ...(receipt.renewal?.files ?? [])])
        : undefined,
    wanted: async (edge, { certificate }) => {
      const covered = (await membersOn(edge, members, primary)).filter(({ host }) =>
        coversHost(certificate?.names ?? [], host),
      )
      const pair = certificate && (await pairOf(certificate))
      const files = pair ? covered.flatMap(({ host }) => edge.certificateFiles(host, pair)) : []
      return [...new Map(files.map((file) => [file.path, file])).values()]
    },
    // The former pairs stay on the edge until the renewal is over. The backup may lie on another instance.
    former: async (edge, afters) => [
      ...members.flatMap(({ host, receipt: { certificate } }) =>
        certificate ? [edge.certificateEntry(host, certificate.fingerprint)] : [],
      ),
      ...(edge === primary ? await backedUp(afters) : []),
    ],
    isRestored: async (edge) => {
      const shown = await Promise.all(members.map(({ host }) => edge.handshake(host)))
      return shown.every((seen, i) => isShown(seen, members[i]?.receipt.certificate))
    },
  }
}

/** The members that the edge serves. A Secondary that was away may not have all of them. */
async function membersOn(edge: Edge, members: readonly Member[], primary: Edge): Promise<readonly Member[]> {
  if (edge === primary) return members
  const there: Member[] = []
  for (const member of members) {
    const paths = member.receipt.files.map(({ path }) => path).filter((path) => !edge.isCertificateFile(path))
    if ((await edge.hashFiles(paths)).some(({ hash }) => hash !== null)) there.push(member)
  }
  return there
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

interface TidyParts {
  /** Whether another renewal is unfinished. It may have to put back a pair that no host uses at this moment. */
  readonly renewsElsewhere: (runId: string) => Promise<boolean>
}

/** Takes the pairs that no host uses any more off the edges. What cannot be removed now is removed by the next converge. */
export function tidyStep(
  runId: string,
  { renewsElsewhere }: TidyParts,
  { primary, secondary, guard }: ProxyParts,
): Step<'tidy', null> {
  const unused = async (edge: Edge) => ((await renewsElsewhere(runId)) ? [] : edge.unusedCertificates())
  const tidy = async (edge: Edge, signal = guard.signal) => {
    if ((await unused(edge)).length === 0) return
    const propose = async () => {
      const files = await unused(edge)
      return { files, expected: await edge.hashFiles(files.map(({ path }) => path)) }
    }
    await edge.change({ ...guard, signal, propose })
  }
  return {
    name: 'tidy',
    before: async () => null,
    do: async () => {
      await Promise.allSettled([tidy(primary), secondary?.make(tidy)])
      return null
    },
    undo: async () => undefined,
  }
}
