import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { escapeText } from '../../model/escape-text.ts'
import { epochAhead, type HostFence } from '../../model/run.ts'
import { createFile, errorCode, syncFile, syncFolder } from '../../primitives/durable-file.ts'
import { FENCES, isHost, STAGING } from '../config/layout.ts'
import { EdgeFault } from '../contract.ts'
import { faultOf, notRegularFile, withEdgeFaults } from './files.ts'

const { O_APPEND, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** The file is written anew when it has this many lines more than twice the number of hosts. */
const SPARE_LINES = 1_000
/** A claim is appended again only when another process has written the file anew at the same time. */
const MAX_APPENDS = 5

/** Protects one change against newer runs of its hosts. */
export interface Claim {
  /** Throws `fenced` when a newer run has claimed one of the hosts. Cheap: called directly before every effect. */
  assertNewest(): void
  /** Claims the hosts for the run. Durable when it resolves. Rejects with `fenced` as above. */
  record(): Promise<void>
}

export interface FencesOptions {
  readonly now: () => number
  readonly spareLines?: number
  /** Called once with each fence of the far future that stands in the file. `ahead`: by how much, in words. */
  readonly onIgnored?: ((fence: HostFence, ahead: string) => void) | undefined
}

const UNFENCED: Claim = { assertNewest: () => undefined, record: async () => undefined }

/**
 * The highest fence of every host that was ever changed on an edge, removed hosts included. Claims are appended to one file,
 * which any number of processes on this machine may use at the same time. A claim is appended before the file is read again:
 * so of two concurrent claims on a host the lower one is refused, or it is in the file before the higher one.
 */
export class Fences {
  readonly #folder: string
  readonly #path: string
  readonly #spareLines: number
  readonly #now: () => number
  readonly #onIgnored: FencesOptions['onIgnored']
  #highest = new Map<string, HostFence>()
  /** Fences of the far future, which earlier versions took. They count for nothing until the clock comes near them. */
  #ahead: readonly HostFence[] = []
  readonly #told = new Set<string>()
  #read = NOTHING_READ

  constructor(folder: string, { now, spareLines = SPARE_LINES, onIgnored }: FencesOptions) {
    this.#onIgnored = onIgnored
    this.#folder = folder
    this.#path = join(folder, FENCES)
    this.#spareLines = spareLines
    this.#now = now
  }

  claim(fences: readonly HostFence[] = []): Claim {
    if (fences.length === 0) return UNFENCED
    for (const fence of fences) {
      assertWritable(fence)
      assertNotAhead(fence, this.#now())
    }
    return {
      assertNewest: () => this.#assertNewest(fences),
      record: () => withEdgeFaults(FENCES, () => this.#record(fences)),
    }
  }

  /** The highest epoch of all fences, 0 if there is none. A store that begins a new epoch begins a higher one. */
  highestEpoch(): number {
    this.#readOn()
    return [...this.#highest.values()].reduce((highest, { epoch }) => Math.max(highest, epoch), 0)
  }

  /** The highest fence of each of these hosts that has one. */
  of(hosts: readonly string[]): HostFence[] {
    try {
      this.#readOn()
    } catch (error) {
      throw faultOf(FENCES, error)
    }
    return hosts.flatMap((host) => this.#highest.get(host) ?? [])
  }

  #assertNewest(fences: readonly HostFence[]): void {
    try {
      this.#readOn()
    } catch (error) {
      throw faultOf(FENCES, error)
    }
    const stale = fences.find((fence) => isLower(fence, this.#highest.get(fence.host) ?? fence))
    if (stale)
      throw new EdgeFault('fenced', `A newer run has changed ${stale.host}. This run stops and undoes nothing.`)
  }

  async #record(fences: readonly HostFence[]): Promise<void> {
    for (let appends = 0; ; appends += 1) {
      this.#assertNewest(fences)
      const missing = fences.filter((fence) => isLower(this.#highest.get(fence.host), fence))
      if (missing.length === 0) break
      if (appends === MAX_APPENDS) throw new EdgeFault('write_failed', `${FENCES} does not keep what is written to it.`)
      await this.#append(missing)
    }
    await this.#sync()
    // The claim itself has succeeded. The next one tries again.
    if (this.#read.lines > 2 * this.#kept().length + this.#spareLines) await this.#compact().catch(() => undefined)
  }

  /** Reads what was appended since the last call, or everything when the file was written anew. */
  #readOn(): void {
    const { ino, size, ctimeMs, isFile } = statOf(this.#path)
    if (!isFile) throw notRegularFile(FENCES)
    this.#ahead = this.#take(this.#ahead)
    if (ino === this.#read.ino && size === this.#read.size && ctimeMs === this.#read.ctimeMs) return
    if (ino === 0) {
      this.#forget()
      return
    }
    withOpened(this.#path, O_RDONLY, (descriptor) => {
      const header = headerOf(descriptor)
      if (header !== this.#read.header || size < this.#read.offset) this.#forget()
      const { fences, end } = fencesFrom(descriptor, this.#read.offset)
      const ahead = this.#take(fences)
      for (const fence of ahead) this.#tellIgnored(fence)
      this.#ahead = [...this.#ahead, ...ahead]
      this.#read = { ino, size, ctimeMs, header, offset: end, lines: this.#read.lines + fences.length }
    })
  }

  /** Takes the fences into account that are not of the far future. Returns the others. */
  #take(fences: readonly HostFence[]): HostFence[] {
    return fences.filter((fence) => {
      if (epochAhead(fence.epoch, this.#now()) !== undefined) return true
      if (isLower(this.#highest.get(fence.host), fence)) this.#highest.set(fence.host, fence)
      return false
    })
  }

  /** The file is read from its beginning when it was written anew. */
  #tellIgnored(fence: HostFence): void {
    const line = linesOf([fence])
    if (this.#told.has(line)) return
    this.#told.add(line)
    this.#onIgnored?.(fence, epochAhead(fence.epoch, this.#now()) ?? '')
  }

  /** What a file that is written anew must have. A clock that is wrong for a while must not lose the fences that are ahead of it. */
  #kept(): HostFence[] {
    return [...this.#highest.values(), ...this.#ahead]
  }

  #forget(): void {
    this.#highest.clear()
    this.#ahead = []
    this.#read = NOTHING_READ
  }

  async #append(fences: readonly HostFence[]): Promise<void> {
    try {
      withOpened(this.#path, O_WRONLY | O_APPEND, (descriptor) => writeFileSync(descriptor, linesOf(fences)))
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      await createFile(this.#path, newHeader() + linesOf(fences), 0o600).catch(ignoreExisting)
      await syncFolder(this.#folder)
    }
  }

  async #sync(): Promise<void> {
    const descriptor = openSync(this.#path, O_RDONLY | O_NOFOLLOW)
    await syncFile(descriptor, this.#path).finally(() => closeSync(descriptor))
  }

  /** Keeps one line per host. */
  async #compact(): Promise<void> {
    const { header, offset } = this.#read
    const draft = join(this.#folder, STAGING, `fences-${randomBytes(8).toString('hex')}`)
    await createFile(draft, newHeader() + linesOf(this.#kept()), 0o600)
    try {
      const late = withOpened(this.#path, O_RDONLY, (former) => {
        // Another process may have been faster.
        if (headerOf(former) !== header) return []
        renameSync(draft, this.#path)
        // Another process may have appended to the former file until now.
        return fencesFrom(former, offset).fences
      })
      if (late.length > 0) await this.#append(late)
      await Promise.all([this.#sync(), syncFolder(this.#folder)])
    } finally {
      rmSync(draft, { force: true })
    }
  }
}

/** How far the file was read, and what identifies it: the system may give the number of a removed inode to a new file. */
const NOTHING_READ = { ino: 0, size: 0, ctimeMs: 0, header: '', offset: 0, lines: 0 }

const HEADER_LENGTH = 32
const newHeader = (): string =>
  `# Fences ${randomBytes(16).toString('hex')}: epoch, number and host of the newest runs. Do not edit.\n`

/** A line that a crash cut off has no semicolon. */
const LINE = /^(\d+) (\d+) (\S+);$/

/** Begins with a line break, so that a line that a crash cut off does not run into these. */
const linesOf = (fences: readonly HostFence[]): string =>
  `\n${fences.map(({ epoch, number, host }) => `${epoch} ${number} ${host};\n`).join('')}`

/** The complete lines from an offset on, and where they end. */
function fencesFrom(descriptor: number, offset: number): { fences: HostFence[]; end: number } {
  const bytes = bytesAt(descriptor, offset, Math.max(0, fstatSync(descriptor).size - offset))
  const length = bytes.lastIndexOf('\n') + 1
  const lines = bytes.toString('latin1', 0, length).split('\n')
  const fences = lines.flatMap((line) => {
    const [, epoch, number, host] = LINE.exec(line) ?? []
    return host === undefined ? [] : [{ host, epoch: Number(epoch), number: Number(number) }]
  })
  return { fences, end: offset + length }
}

const headerOf = (descriptor: number): string => bytesAt(descriptor, 0, HEADER_LENGTH).toString('latin1')

function bytesAt(descriptor: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset))
}

function withOpened<T>(path: string, flags: number, work: (descriptor: number) => T): T {
  const descriptor = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK)
  try {
    return work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function statOf(path: string): { ino: number; size: number; ctimeMs: number; isFile: boolean } {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found ? { ...found, isFile: found.isFile() } : { ino: 0, size: 0, ctimeMs: 0, isFile: true }
}

/** Another process has created the file at the same time. Then the lines are missing in it and are appended. */
function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error
}

function assertWritable({ host, epoch, number }: HostFence): void {
  const isNumber = (value: number) => Number.isSafeInteger(value) && value >= 0
  if (!isHost(host) || !isNumber(epoch) || !isNumber(number))
    throw new Error(`${escapeText(host)} ${epoch} ${number} is not a fence of a host.`)
}

/** A fence of the far future would refuse every run after it. */
function assertNotAhead({ host, epoch }: HostFence, now: number): void {
  const ahead = epochAhead(epoch, now)
  if (ahead === undefined) return
  throw new EdgeFault(
    'change_invalid',
    `The epoch of the store that changes ${host} is ${ahead} ahead of the clock of this edge (${new Date(now).toISOString()}). ` +
      'Nothing was changed. Compare the clocks of the service and the edge.',
  )
}

/** Undefined is lower than every fence. */
const isLower = (one: HostFence | undefined, other: HostFence): boolean =>
  one === undefined || one.epoch < other.epoch || (one.epoch === other.epoch && one.number < other.number)
