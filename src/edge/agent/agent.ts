import { randomBytes } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import type { Clock } from '../../primitives/clock.ts'
import type { AgentIdentity } from '../authority/agent-identity.ts'
import type { EdgePoint } from '../contract/change.ts'
import type { Edge } from '../contract/edge.ts'
import { EdgeFault } from '../contract/fault.ts'
import { Fences } from '../fences/fences.ts'
import { isChallenge } from '../record/challenge.ts'
import { type Answered, type Asked, PROTOCOL, type Verb, type WireVerdict } from '../wire/verbs.ts'
import { Acceptance, type AllowedTargets } from './acceptance.ts'
import { Changes } from './changes.ts'
import { looking } from './look.ts'
import type { AgentMachine } from './machine.ts'
import { hostIn, InvalidMessage } from './message.ts'
import { visiting } from './visits.ts'

/** Handles all verbs except `change`, whose answer has several lines. */
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
  /** The zones of the hosts that may have entries. */
  readonly zones: readonly string[]
  /** Whether services may adopt hand-written sites. */
  readonly adopts: boolean
  readonly version: string
  /** The findings of doctor on this machine. */
  readonly examine: (edge: Edge) => Promise<NonNullable<Answered<'look'>['findings']>>
  /** Called with errors that services must not see. */
  readonly onUnexpected: (error: unknown) => void
  /** Marks that this edge may leave with its hosts. */
  readonly retire: () => Promise<void>
  /** The certificate of the agent. Undefined if it does not listen for other machines. */
  readonly identity?: Pick<AgentIdentity, 'prepareKey' | 'install'> | undefined
  /** Called at each point of a change, for tests that end the process there. */
  readonly onCrashPoint?: (point: EdgePoint) => void
}

/** Owns one web server, and handles requests of services for it. It trusts no service: see Acceptance. */
export function edgeAgent(parts: AgentParts): Agent {
  const { machine, targets, adopts, onUnexpected } = parts
  const { edge, clock } = machine
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
      describe: async ({ prepared }) => {
        // A client that disconnects does not stop it.
        if (prepared) await preparation.done()
        return describe(machine, { version: parts.version, boot })
      },
      list: listing(edge),
      look: looking({ machine, adopts, examine: () => parts.examine(edge) }),
      visit: visiting(machine),
      ...writing(edge, acceptance, preparation, clock),
      ...replacing(parts.identity),
      retire: async () => {
        await parts.retire()
        return NOTHING
      },
    },
  }
}

/** An edge is prepared once in the life of its agent. Changes begin after the first attempt. */
class Preparation {
  readonly #prepare: () => Promise<void>
  #done: Promise<void> | undefined

  constructor(prepare: () => Promise<void>) {
    this.#prepare = prepare
  }

  /** Tries again after a failure. */
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

/** Checks a certificate that the service sends against the authority that enrolled this agent. */
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
): Some<'certificate' | 'challenge'> => ({
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

const listing =
  (edge: Edge): Handlers['list'] =>
  async ({ hosts, certificates, unsettled }) => {
    const had = await Promise.all((certificates ?? []).map(async (id) => ((await edge.hasCertificate(id)) ? [id] : [])))
    return {
      ...((await edge.list(hosts?.map(hostIn))) as Answered<'list'>),
      ...(certificates && { certificates: had.flat() }),
      ...(unsettled && { unsettled: [...(await edge.unsettledRuns())] }),
    }
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

/** The fault in its wire form. Undefined for an error that only the log may have. */
export const wireFault = (error: unknown) =>
  error instanceof EdgeFault ? { kind: error.kind, sentence: error.message } : undefined
