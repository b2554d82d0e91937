import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Order } from 'acme-client'
import { RESUMABLE_MS } from '../budget.ts'
import {
  type ChallengeResponder,
  type InstalledCertificate,
  IssueFault,
  type IssueProgress,
  type OrderBook,
  type OrderBudget,
} from '../contract.ts'
import { installPair, type OrderFiles } from '../issued-files.ts'
import type { InTurn } from '../order-turns.ts'
import { checkIssued } from '../pair.ts'
import { UnusablePemFile } from '../pem-file.ts'
import { keyIn } from '../private-key.ts'
import {
  authorizeOrder,
  downloadChain,
  finalizeOrder,
  lookAtOrder,
  type OrderParts,
  placeOrder,
  whyInvalid,
} from './order.ts'

/** One certificate to be had. */
interface Job extends OrderParts {
  readonly directory: string
  readonly stateDir: string
  readonly names: readonly [string, ...string[]]
  readonly files: OrderFiles
  readonly orders: OrderBook
  readonly budget: OrderBudget
  /** Orders are placed one after the other. */
  readonly inTurn: InTurn
  /** What fails in it is counted before it is thrown on: who comes after in turn goes by it. */
  readonly counting: <T>(work: () => Promise<T>) => Promise<T>
  readonly now: () => number
  readonly tell: (progress: IssueProgress) => void
}

/** Every step may be the last one of a crashed program: the next call goes on from what the order book and the files say. */
export async function issueCertificate(job: Job, challenge: ChallengeResponder['type']): Promise<InstalledCertificate> {
  const { files } = job
  const resumed = await resume(job)
  const keyPem = await keyIn(files.key)
  const order = resumed ?? (await place(job))
  const authorized = await authorizeOrder(job, order, challenge)
  const ended = await finalizeOrder(job, authorized, keyPem)
  if (ended.status !== 'valid') {
    await forget(job)
    throw await whyInvalid(job, ended)
  }
  await job.budget.issued(job.names)
  job.tell({ kind: 'finalized', detail: ended.url })
  const installed = await install(job, await downloadChain(job, ended), keyPem)
  await forget(job)
  await rm(files.folder, { recursive: true, force: true })
  return installed
}

/** The order that an earlier call left, as it stands now, if it can still be brought to an end. */
async function resume(job: Job): Promise<Order | undefined> {
  const { names, directory, files, orders, now } = job
  const known = await orders.findOrder(names.join(','), directory)
  if (!known) return undefined
  const isUsable = now() - known.createdAt < RESUMABLE_MS && known.keyFile === files.key && existsSync(files.key)
  const order = isUsable ? await lookAtOrder(job, known.url) : undefined
  if (!order || order.status === 'invalid') {
    await forget(job)
    return undefined
  }
  job.tell({ kind: 'order_resumed', detail: order.url })
  return order
}

async function place(job: Job): Promise<Order> {
  const { names, replaces, directory, files, orders, budget, inTurn, counting, now, tell } = job
  const order = await inTurn(() =>
    counting(async () => {
      await budget.spend({ names, replaces })
      return placeOrder(job)
    }),
  )
  await orders.putOrder({ names: names.join(','), directory, url: order.url, keyFile: files.key, createdAt: now() })
  tell({ kind: 'order_placed', detail: order.url })
  return order
}

const forget = ({ orders, names, directory }: Job): Promise<void> => orders.deleteOrder(names.join(','), directory)

async function install(job: Job, chainPem: string, keyPem: string): Promise<InstalledCertificate> {
  const { certificatePem, ...described } = await checked(job, chainPem, keyPem)
  const files = await installPair(job.stateDir, job.files, job.names[0], { certificatePem, keyPem })
  return { ...described, ...files, issued: true }
}

/** A certificate that cannot be used is not asked for again: its order is forgotten. */
async function checked(job: Job, chainPem: string, keyPem: string) {
  try {
    return checkIssued(chainPem, keyPem, job.names, job.now())
  } catch (error) {
    if (!(error instanceof UnusablePemFile)) throw error
    await forget(job)
    throw new IssueFault('rejected', `What the certificate authority issued cannot be used: it ${error.message}.`)
  }
}
