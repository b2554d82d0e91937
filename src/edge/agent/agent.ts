import { randomBytes } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { formatEndpoint } from '../../model/address.ts'
import { escapeText } from '../../model/escape-text.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { AgentIdentity } from '../authority/agent-identity.ts'
import { type Edge, EdgeFault, type EdgePoint, type EdgeView, type EdgeVisitor } from '../contract.ts'
import { Fences } from '../fences/fences.ts'
import { CURRENT, GENERATIONS } from '../layout.ts'
import { isChallenge } from '../record/challenge.ts'
import { isHost } from '../record/entry.ts'
import { isProof } from '../record/proof.ts'
import type { EdgeReader, ServedHost } from '../served.ts'
import { edgeVisitor } from '../visit/visitor.ts'
import { type Answered, type Asked, PROTOCOL, type Verb, type WireVerdict } from '../wire/verbs.ts'
import { Acceptance, type AllowedTargets } from './acceptance.ts'
import { Changes } from './changes.ts'
import { Looks } from './looks.ts'
import type { AgentMachine } from './machine.ts'
import { AgentSites } from './sites.ts'

/** The message does not follow the rules of its verb. Nothing was done. */
export class InvalidMessage extends Error {}

/** Answers all verbs but `change`, which answers in lines. */
type Handlers = {
  readonly [V in Exclude<Verb, 'change'>]: (asked: Asked<V>, signal: AbortSignal) => Promise<Plain<Answered<V>>>
}
type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Plain<T[K]> }
    : T

export interface Agent {
  readonly server: string
  readonly handlers: Handlers
  readonly change: (asked: Asked<'change'>, onCrashPoint: (point: EdgePoint) => void) => Promise<WireVerdict>
  readonly prepare: () => Promise<void>
}

interface AgentParts {
  readonly machine: AgentMachine
  readonly targets: AllowedTargets
  /** The zones of the hosts that services may have entries for. */
  readonly zones: readonly string[]
  /** Whether services may adopt hand-written sites. */
  readonly adopts: boolean
  readonly version: string
  /** What doctor finds on this machine. */
  readonly examine: (edge: Edge) => Promise<Answered<'examine'>>
  /** Called with what no service should be told. */
  readonly onUnexpected: (error: unknown) => void
  /** Marks that this edge may leave with its hosts. */
  readonly retire: () => Promise<void>
  /** Its certificate. Undefined where it does not listen for other machines. */
  readonly identity?: Pick<AgentIdentity, 'prepareKey' | 'install'> | undefined
  /** Called at each moment of a change, for tests that end the process there. */
  readonly onCrashPoint?: (point: EdgePoint) => void
}

/** Owns one web server, and does for it what services ask. It trusts none of them: see Acceptance. */
export function edgeAgent(parts: AgentParts): Agent {
  const { machine, targets, adopts, onUnexpected } = parts
  const { edge, view, reader, preflight, clock } = machine
  const sites = new AgentSites({ machine, adopts })
  const acceptance = new Acceptance({ targets, zones: parts.zones, machine, edge, adopts })
  const changes = new Changes({ edge, acceptance, onUnexpected, clock })
  const boot = randomBytes(16).toString('hex')
  const preparation = new Preparation(() => edge.prepare())
  return {
    server: machine.server,
    prepare: () => preparation.done(),
    change: async (asked, onCrashPoint) => {
      if ('withdraw' in asked) return asked.withdraw ? changes.withdraw(asked.id) : changes.verdictOf(asked.id)
      await preparation.tried()
      return changes.carryOut(asked, (point) => {
        parts.onCrashPoint?.(point)
        onCrashPoint(point)
      })
    },
    handlers: {
      describe: async () => describe(machine, { version: parts.version, boot }),
      examine: () => parts.examine(edge),
      retire: async () => {
        await parts.retire()
        return NOTHING
      },
      preflight: ({ host, tls }) => preflight.check(hostIn(host), tls),
      ...replacing(parts.identity),
      ...writing(edge, acceptance, preparation, clock),
      ...standing(edge),
      show: async ({ host }) => (await machine.show(hostIn(host))) ?? null,
      'find-site': async (asked) => sites.find({ ...asked, host: hostIn(asked.host) }),
      ...looking(machine.folder, { view, reader }),
      ...visiting(machine),
    },
  }
}

/** An edge is prepared once in the life of the agent that owns it. Changes begin when that was tried. */
class Preparation {
  readonly #prepare: () => Promise<void>
  #done: Promise<void> | undefined

  constructor(prepare: () => Promise<void>) {
    this.#prepare = prepare
  }

  /** Tried again if it has failed. */
  done(): Promise<void> {
    this.#done ??= this.#prepare().catch((error: unknown) => {
      this.#done = undefined
      throw error
    })
    return this.#done
  }

  async tried(): Promise<void> {
    await this.done().catch(() => undefined)
  }
}

const NOTHING = {}

/** What the service sends is checked against the authority that enrolled this agent. */
function replacing(identity: AgentParts['identity']): Some<'prepare-key' | 'install-certificate'> {
  const ours = () => {
    if (identity) return identity
    throw new InvalidMessage('This agent has no certificate.')
  }
  return {
    'prepare-key': () => ours().prepareKey(),
    'install-certificate': async (certificate) => {
      await ours()
        .install(certificate)
        .catch((error: unknown) => {
          throw new InvalidMessage(error instanceof Error ? error.message : 'The certificate cannot be installed.')
        })
      return NOTHING
    },
  }
}

type Some<V extends keyof Handlers> = Pick<Handlers, V>

const writing = (
  edge: Edge,
  acceptance: Acceptance,
  preparation: Preparation,
  clock: Clock,
): Some<'prepare' | 'assert-valid' | 'assert-no-debug-log' | 'certificate' | 'challenge'> => ({
  prepare: async () => {
    // A client that hangs up does not stop it.
    await preparation.done()
    return NOTHING
  },
  'assert-valid': async (_, signal) => {
    await edge.assertValid(signal)
    return NOTHING
  },
  'assert-no-debug-log': async () => {
    await edge.assertNoDebugLog()
    return NOTHING
  },
  certificate: (pair) => edge.certificate(pair),
  challenge: async ({ host, fence, token, answer, heldForMs }) => {
    if (answer !== null && !isChallenge({ token, answer })) throw new InvalidMessage('That is not a challenge.')
    await acceptance.assertAcceptable([{ host: hostIn(host), fence, expected: 'any', wanted: 'same' }])
    await preparation.tried()
    const endsAt = clock.monotonic() + (heldForMs ?? Number.POSITIVE_INFINITY)
    const assertHeld = () => {
      if (clock.monotonic() >= endsAt) throw new EdgeFault('unavailable', 'The lease of the run has ended.')
    }
    await edge.challenge({ host, fence, token, answer }, { assertHeld })
    return NOTHING
  },
})

const standing = (edge: Edge): Some<'generation' | 'list' | 'has-certificate' | 'unsettled'> => ({
  generation: () => edge.generation(),
  list: ({ hosts }) => edge.list(hosts?.map(hostIn)) as Promise<Answered<'list'>>,
  'has-certificate': (id) => edge.hasCertificate(id),
  unsettled: () => edge.unsettledRuns(),
})

interface Looking {
  readonly view: EdgeView
  readonly reader: EdgeReader
}

function looking(
  folder: string,
  { view, reader }: Looking,
): Some<'look' | 'answers' | 'where' | 'load-state' | 'newest-error' | 'local-address'> {
  const looks = new Looks(reader)
  return {
    look: ({ since }) => looks.since(since),
    answers: async ({ host, place }) => (await view.answers(host, place)) ?? null,
    where: ({ host }) => view.whereIs(hostIn(host)),
    'load-state': async (paths) => {
      const { hosts, broken } = await reader.read()
      const read = new Set([...hosts.map(({ configPath }) => configPath), ...broken.map(({ path }) => path)])
      const unknown = paths.find((path) => !read.has(path) && !isOwnPath(folder, path))
      if (unknown !== undefined) throw new InvalidMessage('A path is not one of the files that nginx reads.')
      return view.loadState(paths)
    },
    'newest-error': ({ host, since }) => view.newestErrorClass(hostIn(host), since),
    'local-address': async ({ name }) => (await view.localAddress(name)) ?? null,
  }
}

const isOwnPath = (folder: string, path: string): boolean =>
  [CURRENT, GENERATIONS].some((name) => path.startsWith(`${folder}/${name}/`)) && !path.includes('/../')

function visiting({
  edge,
  view,
  reader,
  ...machine
}: AgentMachine): Some<
  'ask' | 'foreign-listeners' | 'handshake' | 'visit' | 'view-visit' | 'view-handshake' | 'forget-session'
> {
  const visitors = new Map<number, EdgeVisitor>()
  const visitorFor = (limitMs: number): EdgeVisitor => {
    const visitor = visitors.get(limitMs) ?? edgeVisitor(limitMs, machine.clock)
    if (visitors.size < MOST_VISITORS) visitors.set(limitMs, visitor)
    return visitor
  }
  /** The agent is no way into the network: it visits its own nginx alone. */
  const assertOurs = async (endpoint: { readonly address: string; readonly port: number }): Promise<void> => {
    const own = [machine.address, ...machine.listen].flatMap((address) =>
      [machine.ports.http, machine.ports.https].map((port) => formatEndpoint({ address, port })),
    )
    if (own.includes(formatEndpoint(endpoint))) return
    const { hosts } = await reader.read()
    if (!hosts.some((host) => listensAt(host, endpoint, machine.address)))
      throw new InvalidMessage('nginx does not listen at that address.')
  }
  return {
    ask: (question, signal) => edge.ask(questionIn(question), signal),
    'foreign-listeners': (question, signal) => edge.foreignListeners(questionIn(question), signal),
    handshake: ({ host }, signal) => edge.handshake(hostIn(host), signal),
    visit: async ({ limitMs, ...question }) => {
      await assertOurs(question.listenAddress)
      return visitorFor(limitMs).visit(questionIn(question))
    },
    'view-visit': async ({ limitMs, ...question }) => {
      await assertOurs(question.listenAddress)
      return view.visit(questionIn(question), limitMs)
    },
    'view-handshake': async ({ host, listenAddress, limitMs }) => {
      await assertOurs(listenAddress)
      return view.handshake(listenAddress, hostIn(host), limitMs)
    },
    'forget-session': async ({ host }) => {
      for (const visitor of visitors.values()) visitor.forget(host)
      return NOTHING
    },
  }
}

const MOST_VISITORS = 8

function listensAt({ listen }: ServedHost, endpoint: { address: string; port: number }, own: string): boolean {
  return listen.some(({ address, port }) => {
    const bare = address.replace(/^\[|\]$/g, '')
    return (
      port === endpoint.port && (bare === endpoint.address || (endpoint.address === own && WILDCARDS.includes(bare)))
    )
  })
}

const WILDCARDS = ['*', '0.0.0.0', '::']

function hostIn(host: string): string {
  if (isHost(host)) return host
  throw new InvalidMessage(`${escapeText(host.slice(0, 253))} is not a host.`)
}

/** The path goes into a request line. */
function questionIn<Q extends { host: string; path: string; proof?: string }>(question: Q): Q {
  hostIn(question.host)
  if (!/^\/[\x21-\x7e]*$/.test(question.path)) throw new InvalidMessage('The path of a visit is not valid.')
  if (question.proof !== undefined && !isProof(question.proof))
    throw new InvalidMessage('The proof of a visit is not valid.')
  return question
}

interface Described {
  readonly version: string
  readonly boot: string
}

function describe(machine: AgentMachine, { version, boot }: Described): Answered<'describe'> {
  const { server, folder, address, listen, ports, clock } = machine
  const master = machine.masterPid()
  const fences = new Fences(folder, clock)
  return {
    protocol: PROTOCOL,
    version,
    server,
    boot,
    pid: process.pid,
    epoch: fences.highestEpoch(),
    floors: fences.floors().map(({ store, epoch }) => ({ store, epoch })),
    generation: machine.generation ?? null,
    rights: {
      user: process.getuid?.() ?? 0,
      signalsNginx: master !== undefined && maySignal(master),
      writesFolder: mayWrite(folder),
    },
    nginx: { isRunning: master !== undefined, folder, address, listen: [...listen], ports: { ...ports } },
  }
}

function maySignal(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** The fault as the wire has it. Undefined for one that nobody but the log is told. */
export const wireFault = (error: unknown) =>
  error instanceof EdgeFault ? { kind: error.kind, sentence: error.message } : undefined
