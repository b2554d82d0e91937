import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { untilAborted } from '../../primitives/abort.ts'
import type { Clock } from '../../primitives/clock.ts'
import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { RESUMABLE_MS } from '../budget/budget.ts'
import {
  type ChallengeResponder,
  type InstalledCertificate,
  IssueFault,
  type IssueProgress,
  type OrderBook,
  type OrderBudget,
  type OrderSecrets,
} from '../contract.ts'
import { installPair, type OrderFiles } from '../stock/issued-files.ts'
import { checkIssued } from '../stock/pair.ts'
import { UnusablePemFile } from '../stock/pem-file.ts'
import { readIfExists, readOrCreateKey, writePrivateFile } from '../stock/private-file.ts'
import {
  authorizeOrder,
  downloadChain,
  finalizeOrder,
  findOrder,
  type OrderContext,
  placeOrder,
  reasonInvalid,
} from './order.ts'
import type { Order } from './resources.ts'

/** One certificate to obtain. */
interface Job extends OrderContext {
  readonly directory: string
  readonly stateDir: string
  readonly names: readonly [string, ...string[]]
  readonly files: OrderFiles
  readonly orders: OrderBook
  readonly budget: OrderBudget
  readonly secrets: OrderSecrets | undefined
  readonly withOrderLock: OrderLock
  /** Records a failure of `work` in the budget before it rejects, so that the next holder of the lock sees it. */
  readonly recordingFailure: <T>(work: () => Promise<T>) => Promise<T>
  readonly report: (progress: IssueProgress) => void
}

/** The process may crash after any step: the next call continues from what the order book and the files say. */
export async function issueCertificate(job: Job, challenge: ChallengeResponder['type']): Promise<InstalledCertificate> {
  const { files, secrets } = job
  await restoreKey(job)
  const resumed = await resume(job)
  const keyPem = await readOrCreateKey(files.key)
  // Before the order is placed, so that another instance can complete it.
  await secrets?.put(orderKeyName(job), keyPem)
  const order = resumed ?? (await place(job))
  const authorized = await authorizeOrder(job, order, challenge)
  // The authority has checked the proofs. The caller withdraws the remaining ones.
  if (authorized.status === 'ready') job.proofs.withdrawAll(job.signal).catch(() => undefined)
  const ended = await finalizeOrder(job, authorized, keyPem)
  if (ended.status !== 'valid') {
    await forget(job)
    throw await reasonInvalid(job, ended)
  }
  await job.budget.issued(job.names)
  job.report({ kind: 'finalized', detail: ended.url })
  const installed = await install(job, await downloadChain(job, ended), keyPem)
  await forget(job)
  await secrets?.drop(orderKeyName(job))
  await rm(files.folder, { recursive: true, force: true })
  return installed
}

const orderKeyName = ({ directory, names }: Pick<Job, 'directory' | 'names'>): string =>
  `order ${directory} ${names.join(',')}`

/** The key of an order that another instance has begun. The file here may be of an order before it. */
async function restoreKey(job: Job): Promise<void> {
  const { files, secrets } = job
  const keyPem = await secrets?.read(orderKeyName(job))
  if (keyPem !== undefined && keyPem !== (await readIfExists(files.key))) await writePrivateFile(files.key, keyPem)
}

/** The order that an earlier call left, in its current state, if it can still be completed. */
async function resume(job: Job): Promise<Order | undefined> {
  const { names, directory, files, orders, clock } = job
  const known = await orders.findOrder(names.join(','), directory)
  if (!known) return undefined
  const isUsable = clock.now() - known.createdAt < RESUMABLE_MS && existsSync(files.key)
  const order = isUsable ? await findOrder(job, known.url) : undefined
  if (!order || order.status === 'invalid') {
    await forget(job)
    return undefined
  }
  job.report({ kind: 'order_resumed', detail: order.url })
  return order
}

async function place(job: Job): Promise<Order> {
  const { names, replaces, directory, files, orders, budget, withOrderLock, recordingFailure, clock, report, signal } =
    job
  const placing = withOrderLock(() =>
    recordingFailure(async () => {
      signal?.throwIfAborted()
      await budget.spend({ names, replaces })
      return placeOrder(job)
    }),
  )
  const order = await untilAborted(placing, signal)
  await orders.putOrder({
    names: names.join(','),
    directory,
    url: order.url,
    keyFile: files.key,
    createdAt: clock.now(),
  })
  report({ kind: 'order_placed', detail: order.url })
  return order
}

const forget = ({ orders, names, directory }: Job): Promise<void> => orders.deleteOrder(names.join(','), directory)

async function install(job: Job, chainPem: string, keyPem: string): Promise<InstalledCertificate> {
  const { certificatePem, ...described } = await checkChain(job, chainPem, keyPem)
  const [firstName] = job.names
  const files = await installPair(job.stateDir, job.files, firstName, { certificatePem, keyPem })
  await job.secrets?.publish(firstName, { certificatePem, keyPem, fingerprint: described.fingerprint })
  return { ...described, ...files, issued: true }
}

/** The order of an unusable certificate is forgotten: a download would only repeat it. */
async function checkChain(job: Job, chainPem: string, keyPem: string) {
  try {
    return checkIssued(chainPem, keyPem, job.names, job.clock.now())
  } catch (error) {
    if (!(error instanceof UnusablePemFile)) throw error
    await forget(job)
    throw new IssueFault('rejected', `The certificate that the authority issued cannot be used: it ${error.message}.`)
  }
}

/** Waits for the lock, then works. */
export type OrderLock = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Orders at one authority are placed one after the other, so that every waiting caller sees the Retry-After of the first one.
 * When the authority does not answer one of them, every caller that was already waiting gets the same fault at once: each of
 * them would only wait for the same timeout. `onOutage` passes that fault on to those that wait elsewhere.
 */
export function orderLock(clock: Clock, onOutage: (fault: IssueFault) => void = () => undefined): OrderLock {
  const queue = new KeyedQueue()
  let outage: { readonly at: number; readonly fault: IssueFault } | undefined

  return (work) => {
    const since = clock.monotonic()
    return queue.run('order', async () => {
      if (outage && outage.at >= since) throw outage.fault
      try {
        return await work()
      } catch (error) {
        if (error instanceof IssueFault && error.kind === 'unavailable') {
          outage = { at: clock.monotonic(), fault: error }
          onOutage(error)
        }
        throw error
      }
    })
  }
}
