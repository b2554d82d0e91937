import { type TProperties, type TSchemaOptions, Type } from 'typebox'
import {
  HEADER_NAMES,
  HEADER_WORDS,
  LONGEST_HSTS,
  MAX_BODY_GRAMMAR,
  MOST_BACKENDS,
  MOST_NETWORKS,
  MOST_SNIPPETS,
  OPTION_ID_GRAMMAR,
  RETRY_AFTER,
  TIMEOUT_BOUNDS,
} from '../model/options/grammar.ts'
import { SERVER_GRAMMAR } from '../plan/desired.ts'

/** An object that refuses unknown members. */
export const closed = <T extends TProperties>(members: T, options: TSchemaOptions = {}) =>
  Type.Object(members, { ...options, additionalProperties: false })

/** One word of a list. */
export const oneOf = (words: readonly string[], description?: string) =>
  Type.Enum([...words], { type: 'string', ...(description !== undefined && { description }) })

export const Port = (options: TSchemaOptions = {}) => Type.Integer({ ...options, minimum: 1, maximum: 65_535 })

const seconds = ([minimum, maximum]: readonly [number, number]) => Type.Optional(Type.Integer({ minimum, maximum }))
const id = (options: TSchemaOptions = {}) => Type.String({ ...options, pattern: OPTION_ID_GRAMMAR })
const flag = (options: TSchemaOptions = {}) => Type.Optional(Type.Boolean(options))

const words = Object.fromEntries(HEADER_NAMES.map((name) => [name, Type.Optional(oneOf(HEADER_WORDS[name].words))]))

const Headers = closed(
  {
    hsts: Type.Optional(
      closed(
        {
          maxAge: Type.Integer({ minimum: 0, maximum: LONGEST_HSTS }),
          includeSubDomains: flag(),
          preload: flag(),
        },
        { description: 'Strict-Transport-Security' },
      ),
    ),
    ...words,
  },
  { description: 'Response headers' },
)

const Timeouts = closed(
  {
    connect: seconds(TIMEOUT_BOUNDS.connect),
    read: seconds(TIMEOUT_BOUNDS.read),
    send: seconds(TIMEOUT_BOUNDS.send),
  },
  { description: 'In seconds, between the edge and the backend' },
)

const BackendTls = closed(
  { authority: id(), name: Type.Optional(Type.String({ maxLength: 254 })) },
  { description: 'The backend speaks HTTPS with a certificate of this authority of the configuration' },
)

const Maintenance = closed(
  { retryAfter: seconds([RETRY_AFTER.lowest, RETRY_AFTER.highest]) },
  { description: 'The edge answers 503 with a small page' },
)

export const OptionsArgument = closed(
  {
    maxBody: Type.Optional(
      Type.String({
        pattern: MAX_BODY_GRAMMAR,
        description: 'The largest body of a request, such as 50m. 0: no limit. Default: 64m',
      }),
    ),
    timeouts: Type.Optional(Timeouts),
    websocket: flag({ description: 'Whether WebSocket upgrades are passed on. Default: true' }),
    buffering: flag({ description: 'Whether the edge buffers requests and responses. Default: true' }),
    headers: Type.Optional(Headers),
    allow: Type.Optional(
      Type.Array(Type.String({ maxLength: 49 }), {
        minItems: 1,
        maxItems: MOST_NETWORKS,
        description: 'The networks that may visit the host, such as 10.0.0.0/8',
      }),
    ),
    basicAuth: Type.Optional(id({ description: 'The id of a password file in the configuration' })),
    backendTls: Type.Optional(BackendTls),
    backends: Type.Optional(
      Type.Array(closed({ server: Type.String({ pattern: SERVER_GRAMMAR }), port: Port() }), {
        minItems: 1,
        maxItems: MOST_BACKENDS,
        description: 'Further backends for when the first one fails',
      }),
    ),
    maintenance: Type.Optional(Maintenance),
    snippets: Type.Optional(
      Type.Array(id(), {
        minItems: 1,
        maxItems: MOST_SNIPPETS,
        description: 'Ids of snippets in the configuration',
      }),
    ),
  },
  { description: 'With replaces, these take the place of all former options' },
)
