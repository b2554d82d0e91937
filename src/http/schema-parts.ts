import { type TSchema, Type } from 'typebox'

/** What the schemas of all bodies are made of. */
export const closed = { additionalProperties: false }
export const open = { additionalProperties: true }

export const oneOf = <const T extends readonly string[]>(values: T, options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })

/** No answer has more rows. */
const MOST_ROWS = 500

/** How many rows of a list are asked for. More than an answer has is no fault: the cursor leads on. */
export const rowsAsked = (limit: string | undefined, usual: number): number =>
  Math.min(MOST_ROWS, Number(limit ?? usual))

/** The answer of a route that streams: each event's data is of this schema. */
export const eventStream = (description: string, schema: TSchema): TSchema =>
  ({ description, content: { 'text/event-stream': { schema } } }) as unknown as TSchema

export const CheckBody = Type.Object(
  {
    name: oneOf(['health', 'dns', 'certificate', 'proxy']),
    status: oneOf(['passed', 'warning', 'not_required', 'failed']),
    detail: Type.String(),
  },
  { ...open, title: 'Check', description: 'One preflight question, answered. Further members are evidence.' },
)
