import { parseName } from '../../model/dns-name.ts'
import {
  type CertificateIssuer,
  type ChallengeResponder,
  type InstalledCertificate,
  IssueFault,
  type IssueProgress,
  type OrderBook,
  type OrderBudget,
  type OrderWish,
} from '../contract.ts'
import { makeProofsFolder, orderFiles, proofsFile } from '../issued-files.ts'
import { assertFree } from '../order-budget.ts'
import { orderTurns } from '../order-turns.ts'
import { acmeAccount, type ExternalAccount } from './account.ts'
import { type AccountKeySource, accountKeyOf } from './account-key.ts'
import { connected } from './connection.ts'
import { issueCertificate } from './job.ts'
import { AcmeProblem, faultOf } from './problem.ts'
import { proofsIn } from './proofs.ts'

export interface AcmeIssuerOptions extends AccountKeySource {
  /** PEM roots to trust in place of the system's. */
  readonly caFile?: string | undefined
  readonly orders: OrderBook
  readonly budget: OrderBudget
  readonly externalAccount?: ExternalAccount | undefined
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
  const { directory, caFile, stateDir, orders, budget, contact = [], now = Date.now } = options
  const { onProgress: tell = () => undefined } = options
  const { requestMs, ...patience } = { ...DEFAULT_LIMITS, ...options.limits }
  const ask = acmeAccount({ ...options, contact, key: () => accountKeyOf(options) })
  const inTurn = orderTurns()
  /** Faults that are counted already. */
  const seen = new WeakSet<IssueFault>()
  const underWay = new Map<string, Promise<InstalledCertificate>>()

  const issue = async (wish: OrderWish, responder: ChallengeResponder): Promise<InstalledCertificate> => {
    const names = canonical(wish.names)
    const ours = { ...wish, names }
    // Whether one more may be placed is judged when it is: an order that was left may be gone on with.
    assertFree(await budget.look({ ...ours, resumes: true }), directory)
    await makeProofsFolder(stateDir, directory)
    const proofs = proofsIn(proofsFile(stateDir, directory, names.join(',')), responder)
    const files = await orderFiles(stateDir, directory, names.join(','))
    const counting: Counting = (work) =>
      work().catch(async (error: unknown) => {
        throw await countFailure(ours, toFault(error, directory))
      })
    const parts = { ask, directory, stateDir, files, proofs, orders, budget, inTurn, counting, patience, now, tell }
    const job = { ...ours, ...parts }
    try {
      return await counting(() =>
        connected({ directory, caFile, requestMs }, () => issueCertificate(job, responder.type)),
      )
    } finally {
      for (const detail of await proofs.withdrawAll()) tell({ kind: 'challenge_left', detail })
    }
  }
  const countFailure = async (wish: OrderWish, fault: unknown): Promise<unknown> => {
    if (!(fault instanceof IssueFault) || NOT_THE_AUTHORITY.includes(fault.kind) || seen.has(fault)) return fault
    const counted = await budget.failed(wish, fault)
    seen.add(counted)
    tell({ kind: 'failed', detail: `${counted.message} The next try may be made in ${counted.retryAfter} s.` })
    return counted
  }
  const sweep = async (names: readonly string[], responder: ChallengeResponder): Promise<void> => {
    const proofs = proofsIn(proofsFile(stateDir, directory, canonical(names).join(',')), responder)
    const left = await proofs.withdrawAll()
    if (left.length > 0) throw new IssueFault('challenge_failed', left.join(' '))
  }
  return {
    issue(names, responder, { replaces } = {}) {
      const key = names.join(',')
      const begin = () => told(directory, issue({ names, replaces }, responder)).finally(() => underWay.delete(key))
      const running = underWay.get(key) ?? begin()
      underWay.set(key, running)
      return running
    },
    sweepChallenges: (names, responder) => told(directory, sweep(names, responder)),
  }
}

type Counting = <T>(work: () => Promise<T>) => Promise<T>

/** Nothing was asked of it. */
const NOT_THE_AUTHORITY: readonly IssueFault['kind'][] = ['local', 'over_budget']

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

const told = <T>(directory: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw toFault(error, directory)
  })

function toFault(error: unknown, directory: string): unknown {
  if (error instanceof AcmeProblem) return faultOf(error, new URL(directory).origin)
  return isFileError(error)
    ? new IssueFault('local', `The file or folder ${error.path} cannot be used (${error.code}).`)
    : error
}

/** Of a file: errors of sockets have no path. */
const isFileError = (error: unknown): error is { path: string; code: string } =>
  error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error
