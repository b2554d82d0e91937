import { closeSync, constants, openSync } from 'node:fs'
import { z } from 'zod'
import { DUTIES } from '../../runs/duties.ts'

/**
 * The control socket of a service, `control.sock` in its state folder. A connection carries one request and its answers, each a
 * line of JSON. The service closes the connection after its last answer.
 */
export const LONGEST_LINE = 65_536

const askSchema = z.discriminatedUnion('ask', [
  z.strictObject({
    ask: z.literal('housekeeping'),
    duties: z.array(z.enum(DUTIES)).min(1).max(DUTIES.length),
  }),
  z.strictObject({ ask: z.literal('reload') }),
  /** One of `operations.ts`, which checks the arguments. */
  z.strictObject({ ask: z.literal('operation'), name: z.string(), args: z.unknown() }),
])
export type Ask = z.infer<typeof askSchema>

const answerSchema = z.discriminatedUnion('answer', [
  z.strictObject({
    answer: z.literal('report'),
    duty: z.enum(DUTIES),
    ok: z.boolean(),
    changed: z.int().nonnegative(),
    hosts: z.array(z.string()),
    sentence: z.string(),
  }),
  /** A part of the JSON text of the result. */
  z.strictObject({ answer: z.literal('part'), text: z.string() }),
  /** The request is still under way. */
  z.strictObject({ answer: z.literal('working') }),
  /** The request is done: no other answer follows. */
  z.strictObject({ answer: z.literal('done') }),
  z.strictObject({ answer: z.literal('refused'), reason: z.string() }),
])
export type ControlAnswer = z.infer<typeof answerSchema>

/** Undefined: the line is not a request. */
export const askIn = (line: string): Ask | undefined => parsed(askSchema, line)

/** Undefined: the line is not an answer. */
export const answerIn = (line: string): ControlAnswer | undefined => parsed(answerSchema, line)

function parsed<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data
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
