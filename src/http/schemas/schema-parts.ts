import { type TSchema, Type } from 'typebox'

/** Common parts of the schemas. */
export const closed = { additionalProperties: false }
export const open = { additionalProperties: true }

export const oneOf = <const T extends readonly string[]>(values: T, options = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] })

/** The largest number of rows in one answer. */
const MOST_ROWS = 500

/** The number of rows to return. A larger limit is not an error: the caller continues with the cursor. */
export const pageLimit = (limit: string | undefined, usual: number): number =>
  Math.min(MOST_ROWS, Number(limit ?? usual))

/** The response of a route with server-sent events. The data of each event has this schema. */
export const eventStream = (description: string, schema: TSchema): TSchema =>
  ({ description, content: { 'text/event-stream': { schema } } }) as unknown as TSchema

export const CheckBody = Type.Object(
  {
    name: oneOf(['health', 'dns', 'certificate', 'proxy']),
    status: oneOf(['passed', 'warning', 'not_required', 'failed']),
    detail: Type.String(),
  },
  { ...open, title: 'Check', description: 'The result of one check. Further members are evidence.' },
)

export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
