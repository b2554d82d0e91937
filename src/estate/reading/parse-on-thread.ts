import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../primitives/clock.ts'
import type { FromThread, Head, Item, Question, ToThread } from './parse-thread.ts'
import type { OwnPath, Parsed, ParseRequest } from './parsed.ts'
import type { Stamp } from './text/config-files.ts'
import type { ServerDraft } from './text/statements.ts'

/** The thread caches parsed files, which may take much memory. It ends after this time without a question. */
const IDLE_MS = 30_000

const MAX_HEAP_MB = 1_024

/** A step budget bounds the work. This limit covers work that the budget does not count. */
const MAX_PARSE_MS = 60_000

let thread: Worker | undefined
let idle: Timer | undefined
let lastId = 0
const waiting = new Map<
  number,
  {
    readonly draft: Draft
    /** Ends the thread. */
    readonly overdue: Timer
    readonly resolve: (parsed: Parsed) => void
    readonly reject: (error: Error) => void
  }
>()

/**
 * Runs `parseConfiguration` on a worker thread. `want` names the parts of the answer. Rejects only if the thread ends: it is ended
 * if its answer does not start in time.
 */
export function parseOnThread(request: ParseRequest, want: Question['want'], clock: Clock): Promise<Parsed> {
  idle?.cancel()
  thread ??= startThread(clock)
  thread.ref()
  lastId += 1
  const { promise, resolve, reject } = Promise.withResolvers<Parsed>()
  const worker = thread
  const overdue = clock.after(MAX_PARSE_MS, () => void worker.terminate(), { ref: false })
  waiting.set(lastId, { draft: new Draft(), overdue, resolve, reject })
  thread.postMessage({ id: lastId, request, want } satisfies ToThread)
  return promise
}

/** `clock`: the clock of the first question, used for the pauses of all questions. */
function startThread(clock: Clock): Worker {
  // A worker thread cannot use all options of this process, such as --eval.
  const worker = new Worker(new URL(`parse-thread${extname(import.meta.url)}`, import.meta.url), {
    execArgv: [],
    // A hostile configuration must end only the thread, not the process.
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  worker.on('message', (message: FromThread) => receive(worker, message, clock))
  worker.on('error', () => undefined)
  worker.once('exit', () => {
    if (thread !== worker) return
    thread = undefined
    for (const { reject, overdue } of waiting.values()) {
      overdue.cancel()
      reject(
        new Error(
          'The thread that reads the configuration of nginx ended: it took too long or needed too much memory.',
        ),
      )
    }
    waiting.clear()
  })
  return worker
}

function receive(worker: Worker, { id, head, items, isLast }: FromThread, clock: Clock): void {
  const asked = waiting.get(id)
  asked?.overdue.cancel()
  asked?.draft.add(head, items)
  if (!isLast) {
    // Request the next piece after a turn of the event loop: otherwise this process would handle all waiting pieces in one turn.
    void clock.turn().then(() => worker.postMessage({ next: id } satisfies ToThread))
    return
  }
  waiting.delete(id)
  asked?.resolve(asked.draft.parsed())
  // The thread must keep the process alive only while a question is pending.
  if (waiting.size > 0) return
  worker.unref()
  idle = clock.after(IDLE_MS, stopThread, { ref: false })
}

function stopThread(): void {
  const ended = thread
  thread = undefined
  void ended?.terminate()
}

/** Assembles the pieces of an answer. */
class Draft {
  #head: Head | undefined
  readonly #servers: ServerDraft[] = []
  readonly #foreign = new Map<string, Stamp>()
  readonly #own = new Map<string, OwnPath>()
  readonly #entries = new Map<string, [string, string][]>()
  /** The names of servers that arrived in several pieces. */
  readonly #names = new Map<ServerDraft, string[]>()
  /** Shares equal paths: every message has its own copy of a path. */
  readonly #paths = new Map<string, string>()

  add(head: Head | undefined, items: readonly Item[]): void {
    this.#head ??= head
    for (const item of items) {
      if (item[0] === 'server') this.#servers.push({ ...item[1], path: this.#shared(item[1].path) })
      else if (item[0] === 'names') this.#addNames(item[1])
      else if (item[0] === 'foreign') this.#foreign.set(item[1], item[2])
      else if (item[0] === 'own') this.#own.set(item[1], item[2])
      else this.#entriesOf(item[1]).push([item[2], item[3]])
    }
  }

  parsed(): Parsed {
    if (!this.#head) throw new Error('The first piece is missing.')
    const maps = new Map(
      [...this.#head.maps].map(([variable, map]) => [variable, { ...map, entries: this.#entriesOf(variable) }]),
    )
    return { ...this.#head, maps, servers: this.#servers, foreign: this.#foreign, own: this.#own }
  }

  #addNames(names: readonly string[]): void {
    const last = this.#servers.at(-1)
    if (!last) return
    const all = this.#names.get(last) ?? [...last.names]
    for (const name of names) all.push(name)
    const server = this.#names.has(last) ? last : { ...last, names: all }
    this.#servers[this.#servers.length - 1] = server
    this.#names.set(server, all)
  }

  #shared(path: string): string {
    const known = this.#paths.get(path) ?? path
    this.#paths.set(path, known)
    return known
  }

  #entriesOf(variable: string): [string, string][] {
    const entries = this.#entries.get(variable) ?? []
    this.#entries.set(variable, entries)
    return entries
  }
}
