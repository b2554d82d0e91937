import { closeSync, constants, openSync } from 'node:fs'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/value'
import { DUTIES } from '../../runs/duties.ts'

/**
 * The control socket of a service, `control.sock` in its state folder. A connection carries one request and its answers, each a
 * line of JSON. The service closes the connection after its last answer.
 */
export const LONGEST_LINE = 65_536

/** An object that refuses unknown members. */
export function closed<T extends TProperties>(members: T) {
  return Type.Object(members, { additionalProperties: false })
}

const Duty = Type.Enum([...DUTIES])

const AskSchema = Type.Union([
  closed({
    ask: Type.Literal('housekeeping'),
    duties: Type.Array(Duty, { minItems: 1, maxItems: DUTIES.length }),
  }),
  closed({ ask: Type.Literal('reload') }),
  /** One of `operations.ts`, which checks the arguments. */
  closed({ ask: Type.Literal('operation'), name: Type.String(), args: Type.Unknown() }),
])
export type Ask = Static<typeof AskSchema>

const AnswerSchema = Type.Union([
  closed({
    answer: Type.Literal('report'),
    duty: Duty,
    ok: Type.Boolean(),
    changed: Type.Integer({ minimum: 0 }),
    hosts: Type.Array(Type.String()),
    sentence: Type.String(),
  }),
  /** A part of the JSON text of the result. */
  closed({ answer: Type.Literal('part'), text: Type.String() }),
  /** The request is still under way. */
  closed({ answer: Type.Literal('working') }),
  /** The request is done: no other answer follows. */
  closed({ answer: Type.Literal('done') }),
  closed({ answer: Type.Literal('refused'), reason: Type.String() }),
])
export type ControlAnswer = Static<typeof AnswerSchema>

/** Undefined: the line is not a request. */
export const askIn = (line: string): Ask | undefined => parsed(AskSchema, line)

/** Undefined: the line is not an answer. */
export const answerIn = (line: string): ControlAnswer | undefined => parsed(AnswerSchema, line)

function parsed<T extends TSchema>(schema: T, line: string): Static<T> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return Check(schema, value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Splits what arrives into lines. Throws if a line is too long. */
export class Lines {
  #rest: Buffer = Buffer.alloc(0)

  add(chunk: Buffer): string[] {
    let rest = Buffer.concat([this.#rest, chunk])
    const lines: string[] = []
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      if (end > LONGEST_LINE) throw new Error('A line is too long.')
      lines.push(rest.toString('utf8', 0, end))
      rest = rest.subarray(end + 1)
    }
    if (rest.length > LONGEST_LINE) throw new Error('A line is too long.')
    this.#rest = rest
    return lines
  }
}

/**
 * Opens the state folder and gives the path of its socket through that descriptor: the path of a socket may have only 107
 * bytes, and the folder cannot be exchanged in between. The caller closes the folder.
 */
export function socketIn(stateDir: string): { readonly path: string; close(): void } {
  const folder = openSync(stateDir, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `/proc/self/fd/${folder}/control.sock`, close: () => closeSync(folder) }
}
