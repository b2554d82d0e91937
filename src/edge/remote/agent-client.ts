import { Compile } from 'typebox/compile'
import type { Dispatcher } from 'undici'
import { quoteText } from '../../model/escape-text.ts'
import type { Clock } from '../../primitives/clock.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { EdgeFault } from '../contract/fault.ts'
import { ChangeLine, WireFault } from '../wire/shapes.ts'
import {
  type Answered,
  type Asked,
  PATH_OF,
  PROTOCOL,
  VERBS,
  type Verb,
  type WireChangeLine,
  type WireDescription,
  type WireLook,
  type WireVerdict,
  type WireVisit,
  type WireVisitAnswer,
} from '../wire/verbs.ts'
import { type AgentAddress, AgentConnection, isUnsent, REASONS } from './agent-connection.ts'
import { agentFault, NoAnswer, tooOld } from './agent-fault.ts'
import { LineWatch } from './line-watch.ts'

export interface AgentClientParts {
  readonly server: string
  readonly at: AgentAddress
  readonly clock: Clock
  /** Called when the agent stops answering, and when it answers again. */
  readonly onAway?: (reason: string) => void
  readonly onBack?: (description: WireDescription) => void
}

/** A few moments of a change, and its verdict on each host, whose sentence has a bound. */
const MOST_MOMENTS = 64 * 1024
const MOST_OF_HOST = 32 * 1024
const MOST_CHANGE_ANSWER = 64 * 1024 * 1024
const mostAnswered = (change: Asked<'change'>): number =>
  'items' in change
    ? Math.min(MOST_MOMENTS + change.items.length * MOST_OF_HOST, MOST_CHANGE_ANSWER)
    : MOST_CHANGE_ANSWER

interface Limits {
  readonly signal?: AbortSignal | undefined
  readonly limitMs: number
}

/** Calls one agent. Rejects every answer that does not have the form of its verb. */
export class AgentClient {
  readonly server: string
  readonly clock: Clock
  readonly #parts: AgentClientParts
  readonly #checks = new Map<Verb, { Check(value: unknown): boolean }>()
  readonly #connection: AgentConnection
  #described: Promise<WireDescription> | undefined
  #last: WireDescription | undefined
  #isAway = false
  readonly #line: LineWatch | undefined

  constructor(parts: AgentClientParts) {
    this.#parts = parts
    this.server = parts.server
    this.clock = parts.clock
    const { at } = parts
    this.#connection = new AgentConnection(parts, () => {
      this.#described = undefined
    })
    this.#line = 'socket' in at ? undefined : new LineWatch(at, () => this.reconnect(), parts.clock)
  }

  /** The agent's description at the last connection. Undefined before the first. */
  get last(): WireDescription | undefined {
    return this.#last
  }

  /** Called once for each start of the agent. Rejects if it is the agent of another server, or has another protocol. */
  async describe(): Promise<WireDescription> {
    this.#described ??= this.#describe().catch((error: unknown) => {
      this.#described = undefined
      throw error
    })
    return this.#described
  }

  /**
   * Rejects with the EdgeFault that the agent reports, with `away` if it cannot be reached, with `unavailable` if its answer is
   * invalid, and with the reason of `signal` when that aborts.
   */
  async call<V extends Exclude<Verb, 'change'>>(
    verb: V,
    asked: Asked<V>,
    signal?: AbortSignal,
    limitMs: number = VERBS[verb].limitMs,
  ): Promise<Answered<V>> {
    await this.describe()
    return this.#call(verb, asked, signal, limitMs).catch(async (error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error
      // A restarted agent has closed the connections that are kept here. Every message may be repeated.
      await this.describe()
      return this.#call(verb, asked, signal, limitMs)
    })
  }

  /** Looks at one thing. See `call`. */
  async look<K extends keyof WireLook>(
    member: K,
    asked: NonNullable<Asked<'look'>[K]>,
    signal?: AbortSignal,
  ): Promise<Exclude<WireLook[K], undefined>> {
    const told = (await this.call('look', { [member]: asked }, signal))[member]
    if (told === undefined) throw this.#unintelligible('look')
    return told as Exclude<WireLook[K], undefined>
  }

  /** Asks one question. `kinds`: those that its answer may have. See `call`. */
  async visit<K extends WireVisitAnswer['kind']>(
    question: WireVisit,
    kinds: readonly K[],
    signal?: AbortSignal,
  ): Promise<Extract<WireVisitAnswer, { readonly kind: K }>> {
    const [answer, ...more] = await this.call('visit', { questions: [question] }, signal)
    if (!answer || more.length > 0 || !(kinds as readonly string[]).includes(answer.kind))
      throw this.#unintelligible('visit')
    return answer as Extract<WireVisitAnswer, { readonly kind: K }>
  }

  async #call<V extends Verb>(
    verb: V,
    asked: Asked<V>,
    signal?: AbortSignal,
    limitMs: number = VERBS[verb].limitMs,
  ): Promise<Answered<V>> {
    const { mostAnswered } = VERBS[verb]
    const text = await this.#send(verb, asked, { signal, limitMs }, async (body) => textOf(body, mostAnswered))
    const answered = parsed(text)
    if (!answered) throw this.#foreign('gave an answer that is not JSON')
    if ('fault' in answered && faults.Check(answered.fault)) throw agentFault(this.server, answered.fault)
    if (!('answer' in answered) || !this.#checkOf(verb).Check(answered.answer)) throw this.#unintelligible(verb)
    return answered.answer as Answered<V>
  }

  /**
   * Resolves with the verdict. Rejects with NoAnswer if the connection ended before it, and with `not_reloaded` if the agent has taken the
   * change and its answer is invalid: it may have made it.
   */
  async change(change: Asked<'change'>, onLine: (line: WireChangeLine) => void): Promise<WireVerdict> {
    await this.describe()
    return this.#send('change', change, { limitMs: VERBS.change.limitMs }, async (body) => {
      let rest = ''
      let length = 0
      for await (const chunk of body.setEncoding('utf8')) {
        length += String(chunk).length
        if (length > mostAnswered(change)) throw this.#unintelligible('change')
        const lines = (rest + String(chunk)).split('\n')
        rest = lines.pop() ?? ''
        for (const text of lines) {
          const line = parsed(text)
          if (!changeLines.Check(line)) throw this.#unintelligible('change')
          if ('verdict' in line) return line.verdict
          onLine(line)
        }
      }
      throw new NoAnswer('away', `The agent of edge ${this.server} ended the connection before it gave a verdict.`)
    })
  }

  /** Ends all connections. The next message opens new ones, with the present certificate. */
  reconnect(): void {
    this.#connection.end()
  }

  async #describe(): Promise<WireDescription> {
    const described = await this.#call('describe', {})
    const { server } = this.#parts
    if (described.server !== server)
      throw this.#foreign(`says that it is the agent of edge ${described.server.replaceAll(/[^A-Za-z0-9-]/g, '?')}`)
    if (described.protocol !== PROTOCOL)
      throw this.#foreign(
        `speaks protocol ${described.protocol}, and this service ${PROTOCOL}. Use the same version of both`,
      )
    this.#last = described
    if (this.#isAway) this.#parts.onBack?.(described)
    this.#isAway = false
    return described
  }

  async #send<V extends Verb, T>(
    verb: V,
    asked: Asked<V>,
    limits: Limits,
    read: (body: Dispatcher.ResponseData['body']) => Promise<T>,
  ): Promise<T> {
    const send = () => this.#sendOnLine(verb, asked, limits, read)
    return this.#line ? this.#line.during(send) : send()
  }

  async #sendOnLine<V extends Verb, T>(
    verb: V,
    asked: Asked<V>,
    { signal, limitMs }: Limits,
    read: (body: Dispatcher.ResponseData['body']) => Promise<T>,
  ): Promise<T> {
    const limit = this.clock.timeout(limitMs)
    signal?.throwIfAborted()
    let isSent = false
    try {
      const { statusCode, body } = await (await this.#connection.pool()).request({
        method: 'POST',
        path: PATH_OF(verb),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      isSent = true
      if (statusCode === 200) return await read(body)
      const text = await textOf(body, 64 * 1024)
      if (statusCode === 404) throw tooOld(this.server, this.#last?.version, verb)
      throw this.#foreign(`refused a message (${statusCode}, ${verb})`, quoteText(errorIn(text)))
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof EdgeFault) throw error
      throw this.#away(error, isSent || !isUnsent(error))
    }
  }

  #away(error: unknown, mayBeSent: boolean): EdgeFault {
    const { server, at } = this.#parts
    const place = 'socket' in at ? at.socket : `${at.address}:${at.port}`
    const reason = REASONS[errorCode(error) ?? ''] ?? (error instanceof Error ? escaped(error.message) : 'no answer')
    this.#described = undefined
    if (!this.#isAway) this.#parts.onAway?.(reason)
    this.#isAway = true
    const sentence = `The agent of edge ${server} at ${place} does not answer (${reason}).`
    return mayBeSent ? new NoAnswer('away', sentence) : new EdgeFault('away', sentence)
  }

  #foreign(what: string, said?: string, kind: EdgeFault['kind'] = 'unavailable'): EdgeFault {
    return new EdgeFault(kind, `The agent of edge ${this.#parts.server} ${what}.`, said)
  }

  #unintelligible(verb: Verb): EdgeFault {
    const kind = verb === 'change' ? 'not_reloaded' : 'unavailable'
    return this.#foreign(`gave an answer to ${verb} that has not the form of one`, undefined, kind)
  }

  #checkOf(verb: Verb) {
    const check = this.#checks.get(verb) ?? Compile(VERBS[verb].answer)
    this.#checks.set(verb, check)
    return check
  }
}

const faults = Compile(WireFault)
const changeLines = Compile(ChangeLine)

const escaped = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200)

async function textOf(body: Dispatcher.ResponseData['body'], most: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > most) {
      body.destroy()
      throw new EdgeFault('unavailable', `An agent gave an answer of more than ${most} bytes.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Undefined if the text is not JSON. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function errorIn(text: string): string {
  try {
    const told: unknown = JSON.parse(text)
    return String((told as { error?: unknown }).error ?? 'no reason')
  } catch {
    return 'no reason'
  }
}
