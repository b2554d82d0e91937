import { parseName } from '../../model/dns-name.ts'
import type { LeaseGuard } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import { Slots } from '../../primitives/slots.ts'
import { assertAllowed } from '../budget/order-budget.ts'
import {
  type CertificateIssuer,
  type ChallengeResponder,
  type InstalledCertificate,
  IssueFault,
  type IssueProgress,
  type OrderBook,
  type OrderBudget,
  type OrderRequest,
  type OrderSecrets,
} from '../contract.ts'
import { makeProofsFolder, orderFiles, proofsFile } from '../stock/issued-files.ts'
import { type AccountKeySource, acmeAccount, type ExternalAccount } from './account.ts'
import { type ProofRecord, proofFile, proofsIn, sharedProofs } from './challenges.ts'
import type { Send } from './connection.ts'
import { withConnection } from './connection.ts'
import { issueCertificate, orderLock } from './job.ts'
import { AcmeProblem, faultOf } from './problem.ts'

export interface AcmeIssuerOptions extends AccountKeySource {
  /** PEM file with the roots to trust instead of the system's. */
  readonly caFile?: string | undefined
  readonly orders: OrderBook
  readonly budget: OrderBudget
  /** Undefined where nothing is shared: then keys are only in the state folder. */
  readonly secrets?: OrderSecrets | undefined
  readonly externalAccount?: ExternalAccount | undefined
  /** E-mail addresses that the authority may write to. */
  readonly contact?: readonly string[]
  readonly onProgress?: (progress: IssueProgress) => void
  readonly clock: Clock
  /** Milliseconds: one request, the authority's decision on an order, and the first pause between two polls of an order. */
  readonly limits?: { readonly requestMs?: number; readonly decisionMs?: number; readonly pollMs?: number }
}

const DEFAULT_LIMITS = { requestMs: 10_000, decisionMs: 60_000, pollMs: 20 }
const MAX_RESPONSE_BYTES = 256 * 1024
/** Certificates that are obtained at the same time. The proofs of all of them stand in the zones. */
const AT_ONCE = 8
/** Faults that happen without a request to the authority. */
const LOCAL_FAULTS: readonly IssueFault['kind'][] = ['local', 'over_budget']

/** RFC 8555, with one account per directory. */
export function acmeIssuer(options: AcmeIssuerOptions): CertificateIssuer {
  const { directory, caFile, stateDir, orders, budget, secrets, contact = [], clock } = options
  const { onProgress: report = () => undefined } = options
  const { requestMs, ...polling } = { ...DEFAULT_LIMITS, ...options.limits }
  const openSession = acmeAccount({ ...options, contact })
  const slots = new Slots(AT_ONCE)
  const withOrderLock = orderLock(clock, (fault) => slots.rejectWaiting(fault))
  const recorded = new WeakSet<IssueFault>()
  const running = new Map<string, Promise<InstalledCertificate>>()

  const proofsOf = (names: readonly string[]): ProofRecord => {
    const joined = names.join(',')
    return secrets
      ? sharedProofs(secrets, `proofs ${directory} ${joined}`)
      : proofFile(proofsFile(stateDir, directory, joined))
  }

  const issue = async (
    request: OrderRequest,
    responder: ChallengeResponder,
    guard: LeaseGuard | undefined,
  ): Promise<InstalledCertificate> => {
    const signal = guard?.signal
    signal?.throwIfAborted()
    const order = { ...request, names: canonical(request.names) }
    await assertNotPaused(order)
    return slots.run(async () => {
      // The authority may have asked for a pause while this call waited.
      await assertNotPaused(order)
      return obtain(order, responder, guard)
    }, signal)
  }
  /** Whether a new order may be placed is checked when it is placed: a call may resume one that is already counted. */
  const assertNotPaused = async (order: OrderRequest) =>
    assertAllowed(await budget.check({ ...order, resumes: true }), directory)

  const obtain = async (
    order: CanonicalOrder,
    responder: ChallengeResponder,
    guard: LeaseGuard | undefined,
  ): Promise<InstalledCertificate> => {
    const signal = guard?.signal
    const { names } = order
    signal?.throwIfAborted()
    await makeProofsFolder(stateDir, directory)
    const proofs = proofsIn(proofsOf(names), responder)
    const files = await orderFiles(stateDir, directory, names.join(','))
    const recordingFailure = <T>(work: () => Promise<T>): Promise<T> =>
      work().catch(async (error: unknown) => {
        // An attempt that was aborted here is not a failure of the authority.
        signal?.throwIfAborted()
        throw await recordFailure(order, toFault(error, directory))
      })
    const parts = { directory, stateDir, files, proofs, orders, budget, secrets, withOrderLock, recordingFailure }
    const job = { ...order, ...parts, polling, clock, report, signal }
    try {
      return await recordingFailure(() =>
        withConnection({ directory, caFile, requestMs, maxBytes: MAX_RESPONSE_BYTES, clock, signal }, (send) =>
          issueCertificate({ ...job, session: openSession(guardedSend(send, guard)) }, responder.type),
        ),
      )
    } finally {
      // After an abort the proofs stay recorded, and the next call or `sweepChallenges` withdraws them.
      if (!signal?.aborted)
        for (const detail of await proofs.withdrawAll(signal)) report({ kind: 'challenge_left', detail })
    }
  }
  /** Each fault is recorded once, although it passes here both inside and outside of the order lock. */
  const recordFailure = async (request: OrderRequest, fault: unknown): Promise<unknown> => {
    if (!(fault instanceof IssueFault) || LOCAL_FAULTS.includes(fault.kind) || recorded.has(fault)) return fault
    const failure = await budget.failed(request, fault)
    recorded.add(failure)
    report({ kind: 'failed', detail: `${failure.message} The next attempt is allowed in ${failure.retryAfter} s.` })
    return failure
  }
  const withdrawProofs = async (
    names: readonly string[],
    responder: ChallengeResponder,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const proofs = proofsIn(proofsOf(canonical(names)), responder)
    const left = await proofs.withdrawAll(signal)
    signal?.throwIfAborted()
    if (left.length > 0) throw new IssueFault('challenge_failed', left.join(' '))
  }
  return {
    issue(names, responder, { replaces, guard } = {}) {
      const key = names.join(',')
      const begin = () =>
        withFaults(directory, issue({ names, replaces }, responder, guard)).finally(() => running.delete(key))
      const current = running.get(key) ?? begin()
      running.set(key, current)
      return current
    },
    sweepChallenges: (names, responder, signal) => withFaults(directory, withdrawProofs(names, responder, signal)),
  }
}

/** An authority cannot be fenced, so the lease is checked directly before each request. */
const guardedSend = (send: Send, guard: LeaseGuard | undefined): Send => {
  if (!guard) return send
  return async (...request) => {
    await guard.ensureHeld()
    return send(...request)
  }
}

type CanonicalOrder = OrderRequest & { readonly names: ReturnType<typeof canonical> }

/** Throws IssueFault for a name that is not a DNS name: names are also used as folder names. */
function canonical(names: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = names.map((name) => {
    const host = parseName(name.replace(/^\*\./, ''))
    if (!host)
      throw new IssueFault(
        'rejected',
        `No certificate can be issued for ${JSON.stringify(name)}: it is not a DNS name.`,
      )
    return name.startsWith('*.') ? `*.${host}` : host
  })
  if (!first) throw new IssueFault('rejected', 'A certificate needs at least one name.')
  return [first, ...others]
}

const withFaults = <T>(directory: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw toFault(error, directory)
  })

function toFault(error: unknown, directory: string): unknown {
  if (error instanceof AcmeProblem) return faultOf(error, new URL(directory).origin)
  return isFileError(error)
    ? new IssueFault('local', `The file or folder ${error.path} cannot be used (${error.code}).`)
    : error
}

/** Errors of sockets have no path. */
const isFileError = (error: unknown): error is { path: string; code: string } =>
  error instanceof Error && 'syscall' in error && 'path' in error && 'code' in error
