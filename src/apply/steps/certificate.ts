import type { CertificateInventory, CertificateIssuer, ChallengeResponder } from '../../certificates/contract.ts'
import type { Note, Step } from '../step.ts'

/** Which certificate the host is served with. Named by its files: the key itself is never journalled. */
export interface ChosenCertificate {
  readonly fingerprint: string
  readonly certificateFile: string
  readonly keyFile: string
  readonly source: 'installed' | 'issued'
}

export interface CertificateParts {
  readonly inventory: CertificateInventory
  readonly issuer: CertificateIssuer
  readonly responder: ChallengeResponder
  readonly challengeSet: () => void
  readonly now: () => number
}

interface Challenge {
  readonly host: string
  readonly token: string
  readonly keyAuthorization: string
}

/** Reuses the covering certificate, or gets one. Undoing keeps it, out of service: the authority's limits are precious. */
export function certificateStep(host: string, parts: CertificateParts): Step {
  const { inventory, issuer, responder, now } = parts
  return {
    name: 'certificate',
    before: async () => [],
    do: async (_before, _afters, note): Promise<ChosenCertificate> => {
      const installed = await inventory.covering(host, now())
      const chosen = installed ?? (await issuer.issue([host], noting(responder, note, parts.challengeSet)))
      const { fingerprint, certificateFile, keyFile } = chosen
      return { fingerprint, certificateFile, keyFile, source: installed ? 'installed' : 'issued' }
    },
    undo: async (noted) => {
      for (const { host: name, token, keyAuthorization } of noted as Challenge[]) {
        await responder.withdraw(name, token, keyAuthorization)
      }
      await issuer.sweepChallenges([host], responder)
    },
  }
}

/** Writes each challenge down before it is set, so that one left by a crash is found and taken away. */
function noting(responder: ChallengeResponder, note: Note, challengeSet: () => void): ChallengeResponder {
  const set: Challenge[] = []
  return {
    type: responder.type,
    present: async (host, token, keyAuthorization) => {
      set.push({ host, token, keyAuthorization })
      await note(set)
      await responder.present(host, token, keyAuthorization)
      challengeSet()
    },
    withdraw: (host, token, keyAuthorization) => responder.withdraw(host, token, keyAuthorization),
  }
}
