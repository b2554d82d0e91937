import { parseName } from '../model/dns-name.ts'
import { acmeAccount } from './acme-account.ts'
import { connected } from './acme-connection.ts'
import { issueCertificate } from './acme-job.ts'
import { AcmeProblem, faultOf } from './acme-problem.ts'
import {
  type CertificateIssuer,
  type ChallengeResponder,
  type InstalledCertificate,
  IssueFault,
  type IssueProgress,
  type OrderBook,
} from './contract.ts'
import { accountKeyFile, makeProofsFolder, orderFiles, proofsFile } from './issued-files.ts'
import { keyIn } from './private-key.ts'
import { proofsIn } from './proofs.ts'

export interface AcmeIssuerOptions {
  readonly directory: string
  /** PEM roots to trust in place of the system's. */
  readonly caFile?: string | undefined
  /** Must be there, for us alone. */
  readonly stateDir: string
  readonly orders: OrderBook
  /** E-mail addresses that the authority may write to. */
  readonly contact?: readonly string[]
  readonly onProgress?: (progress: IssueProgress) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Milliseconds: one request, the authority's decision on an order, and the first pause between looks at it. */
  readonly limits?: { readonly requestMs?: number; readonly decisionMs?: number; readonly pollMs?: number }
}

/** RFC 8555, with one account per directory. */
export function acmeIssuer(options: AcmeIssuerOptions): CertificateIssuer {
  const { directory, caFile, stateDir, orders, contact = [], now = Date.now, onProgress = () => undefined } = options
  const { requestMs, ...patience } = { ...DEFAULT_LIMITS, ...options.limits }
  const accountKey = async () => keyIn(await accountKeyFile(stateDir, directory))
  const ask = acmeAccount({ directory, contact, key: accountKey })
  const underWay = new Map<string, Promise<InstalledCertificate>>()

  const issue = async (names: readonly string[], responder: ChallengeResponder): Promise<InstalledCertificate> => {
    const ours = canonical(names)
    await makeProofsFolder(stateDir, directory)
    const proofs = proofsIn(proofsFile(stateDir, directory, ours.join(',')), responder)
    const files = await orderFiles(stateDir, directory, ours.join(','))
    const order = { ask, directory, stateDir, names: ours, files, proofs, orders, patience, now, tell: onProgress }
    try {
      return await connected({ directory, caFile, requestMs }, () => issueCertificate(order, responder.type))
    } finally {
      for (const detail of await proofs.withdrawAll()) onProgress({ kind: 'challenge_left', detail })
    }
  }
  const sweep = async (names: readonly string[], responder: ChallengeResponder): Promise<void> => {
    const proofs = proofsIn(proofsFile(stateDir, directory, canonical(names).join(',')), responder)
    const left = await proofs.withdrawAll()
    if (left.length > 0) throw new IssueFault('challenge_failed', left.join(' '))
  }
  return {
    issue(names, responder) {
      const key = names.join(',')
      const begin = () => asIssueFault(directory, issue(names, responder)).finally(() => underWay.delete(key))
      const running = underWay.get(key) ?? begin()
      underWay.set(key, running)
      return running
    },
    sweepChallenges: (names, responder) => asIssueFault(directory, sweep(names, responder)),
  }
}

const DEFAULT_LIMITS = { requestMs: 10_000, decisionMs: 60_000, pollMs: 250 }

/** Names become the names of folders, too. */
function canonical(names: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = names.map((name) => {
    const host = parseName(name.replace(/^\*\./, ''))
    if (!host)
      throw new IssueFault('rejected', `No certificate can be had for ${JSON.stringify(name)}: it is no DNS name.`)
    return name.startsWith('*.') ? `*.${host}` : host
  })
  if (!first) throw new IssueFault('rejected', 'A certificate needs a name.')
  return [first, ...others]
}

async function asIssueFault<T>(directory: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof AcmeProblem) throw faultOf(error, new URL(directory).origin)
    if (isFileError(error))
      throw new IssueFault('local', `The file or folder ${error.path} cannot be used (${error.code}).`)
    throw error
  }
}

/** Of a file: errors of sockets have no path. */
const isFileError = (error: unknown): error is { path: string; code: string } =>
  error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error
