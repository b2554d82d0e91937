import type { CertificateIssuer, ChallengeResponder, InstalledCertificate } from '../../certificates/contract.ts'
import { isRefused } from '../../dns/contract.ts'
import type { Edge } from '../../edge/contract/edge.ts'
import type { ChosenCertificate } from '../../model/receipt.ts'
import type { LeaseGuard, RunGuard } from '../../model/run.ts'
import type { Note, Step } from '../engine/step.ts'
import { fencesByHost, guardOf } from './proxy.ts'

export interface CertificateParts {
  /** The installed certificate to use, if there is one. */
  readonly installed: () => Promise<InstalledCertificate | undefined>
  readonly issuer: CertificateIssuer
  readonly responder: ChallengeResponder
  /** What is ordered where nothing is installed. */
  readonly names: readonly string[]
  /** The RFC 9773 identifier of the certificate that the order replaces. */
  readonly replaces?: string | undefined
  /** Runs `work` while nobody else orders for these names. */
  readonly holdOrder: <T>(names: readonly string[], work: () => Promise<T>) => Promise<T>
  readonly challengeSet: () => void
  /** The lease of the run. */
  readonly guard: LeaseGuard
}

interface Challenge {
  readonly host: string
  readonly token: string
  readonly keyAuthorization: string
  /** Up to which second it may be published, if that was not confirmed. */
  readonly validUntil?: number
}

/** Uses an installed certificate, or orders one. Undo keeps it: CA rate limits. */
export function certificateStep(parts: CertificateParts): Step<'certificate', readonly Challenge[]> {
  const { issuer, responder, names, holdOrder, guard, replaces } = parts
  const installed = async () => {
    const found = await parts.installed()
    return found && chosen(found, 'installed')
  }
  // Another run may have ordered the same names while this one waited for the lock.
  const issued = (note: Note<readonly Challenge[]>) =>
    holdOrder(
      names,
      async () =>
        (await installed()) ??
        chosen(await issuer.issue(names, noting(responder, note, parts.challengeSet), { guard, replaces }), 'issued'),
    )
  return {
    name: 'certificate',
    before: async () => [],
    do: async (_before, _afters, note) => (await installed()) ?? issued(note),
    undo: async (noted) => {
      // One host's challenges replace one another on an edge: the newest is the one that stands.
      for (const { host: name, token, keyAuthorization, validUntil } of noted.toReversed()) {
        await responder.withdraw(name, token, keyAuthorization, guard.signal, validUntil)
      }
      await issuer.sweepChallenges(names, responder)
    },
  }
}

export function chosen(certificate: InstalledCertificate, source: ChosenCertificate['source']): ChosenCertificate {
  const { fingerprint, certificateFile, keyFile, names, notBefore, notAfter, issued: ours, serial } = certificate
  return {
    fingerprint,
    certificateFile,
    keyFile,
    source,
    names,
    notBefore: notBefore.getTime(),
    notAfter: notAfter.getTime(),
    ours,
    serial,
  }
}

/** Journals each challenge before it is published, so that undo finds one that a crash left. */
function noting(
  responder: ChallengeResponder,
  note: Note<readonly Challenge[]>,
  challengeSet: () => void,
): ChallengeResponder {
  const set = new Map<string, Challenge>()
  const noteAll = () => note([...set.values()])
  return {
    type: responder.type,
    present: async (host, token, keyAuthorization, signal, signing) => {
      const key = `${host} ${token}`
      const challenge = { host, token, keyAuthorization }
      set.set(key, challenge)
      await noteAll()
      const sending = async (validUntil: number) => {
        set.set(key, { ...challenge, validUntil })
        await noteAll()
        await signing?.(validUntil)
      }
      await responder.present(host, token, keyAuthorization, signal, sending).catch(async (error: unknown) => {
        // What was refused was not published, so there is nothing to undo.
        if (isRefused(error) && set.delete(key)) await noteAll()
        throw error
      })
      set.set(key, challenge)
      challengeSet()
    },
    // What an order has withdrawn itself is not undone: the undo would wait until the signature of its update has run out.
    withdraw: async (host, token, ...more) => {
      await responder.withdraw(host, token, ...more)
      if (set.delete(`${host} ${token}`)) await noteAll()
    },
  }
}

/** http-01: the edge answers the authority beside its service of the host. */
export const edgeResponder = (edge: Edge, guard: RunGuard): ChallengeResponder => ({
  type: 'http-01',
  present: (host, token, answer) =>
    edge.challenge(
      { host, fence: fencesByHost(guard)(host), token, answer },
      { ...guardOf(guard), signal: guard.signal },
    ),
  withdraw: (host, token) =>
    edge.challenge(
      { host, fence: fencesByHost(guard)(host), token, answer: null },
      { ...guardOf(guard), signal: guard.signal },
    ),
})
