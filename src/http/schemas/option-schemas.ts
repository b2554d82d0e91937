import { type TSchema, Type } from 'typebox'
import {
  HEADER_NAMES,
  HEADER_WORDS,
  type HeaderWord,
  LONGEST_HSTS,
  MAX_BODY_GRAMMAR,
  MOST_BACKENDS,
  MOST_NETWORKS,
  MOST_SNIPPETS,
  OPTION_ID_GRAMMAR,
  RETRY_AFTER,
  TIMEOUT_BOUNDS,
} from '../../model/options/grammar.ts'
import { SERVER_GRAMMAR } from '../../plan/desired.ts'
import { closed, oneOf } from './schema-parts.ts'

const seconds = ([minimum, maximum]: readonly [number, number], description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))

const id = (description: string) => Type.String({ pattern: OPTION_ID_GRAMMAR, description, examples: ['office'] })

const headerWord = (name: HeaderWord): TSchema =>
  Type.Optional(oneOf(HEADER_WORDS[name].words, { description: `The value of ${HEADER_WORDS[name].header}.` }))

const HeadersBody = Type.Object(
  {
    hsts: Type.Optional(
      Type.Object(
        {
          maxAge: Type.Integer({ minimum: 0, maximum: LONGEST_HSTS, examples: [31_536_000] }),
          includeSubDomains: Type.Optional(Type.Boolean()),
          preload: Type.Optional(Type.Boolean()),
        },
        { ...closed, description: 'Strict-Transport-Security. The exposure must have TLS.' },
      ),
    ),
    ...Object.fromEntries(HEADER_NAMES.map((name) => [name, headerWord(name)])),
  },
  { ...closed, description: "Headers that the edge adds to responses, in place of the backend's own." },
)

/** Unknown members and bad values are refused here already. What the policy decides is refused by the plan. */
export const OptionsBody = Type.Object(
  {
    maxBody: Type.Optional(
      Type.String({
        pattern: MAX_BODY_GRAMMAR,
        examples: ['50m'],
        description: 'The largest body of a request, with k, m or g. 0: no limit. Default: 64m.',
      }),
    ),
    timeouts: Type.Optional(
      Type.Object(
        {
          connect: seconds(TIMEOUT_BOUNDS.connect, 'To connect to the backend. Default: 5.'),
          read: seconds(TIMEOUT_BOUNDS.read, 'Between two reads from the backend. Default: 300.'),
          send: seconds(TIMEOUT_BOUNDS.send, 'Between two writes to the backend. Default: 60.'),
        },
        { ...closed, description: 'In seconds, between the edge and the backend.' },
      ),
    ),
    websocket: Type.Optional(Type.Boolean({ description: 'Whether WebSocket upgrades are passed on. Default: true.' })),
    buffering: Type.Optional(
      Type.Boolean({ description: 'Whether the edge buffers requests and responses. Default: true.' }),
    ),
    headers: Type.Optional(HeadersBody),
    allow: Type.Optional(
      Type.Array(Type.String({ format: 'network', maxLength: 49, examples: ['10.0.0.0/8'] }), {
        minItems: 1,
        maxItems: MOST_NETWORKS,
        description: 'The networks that may visit the host. Everybody else gets 403.',
      }),
    ),
    basicAuth: Type.Optional(id('The id of a password file in the configuration.')),
    backendTls: Type.Optional(
      Type.Object(
        {
          authority: id('The id of an authority in the configuration.'),
          name: Type.Optional(
            Type.String({
              format: 'dns-zone',
              maxLength: 254,
              examples: ['app.internal.test'],
              description: "The name in the backend's certificate. Default: the host.",
            }),
          ),
        },
        { ...closed, description: 'The backend speaks HTTPS, with a certificate of this authority.' },
      ),
    ),
    backends: Type.Optional(
      Type.Array(
        Type.Object({ server: Type.String({ pattern: SERVER_GRAMMAR }), port: Type.Integer() }, { ...closed }),
        {
          minItems: 1,
          maxItems: MOST_BACKENDS,
          description: 'Further backends with the same service. The edge turns to them when the first one fails.',
        },
      ),
    ),
    maintenance: Type.Optional(
      Type.Object(
        {
          retryAfter: Type.Optional(
            Type.Integer({ minimum: RETRY_AFTER.lowest, maximum: RETRY_AFTER.highest, description: 'Default: 300.' }),
          ),
        },
        { ...closed, description: 'The edge answers 503 with a small page, and does not ask the backend.' },
      ),
    ),
    snippets: Type.Optional(
      Type.Array(id('The id of a snippet in the configuration.'), { minItems: 1, maxItems: MOST_SNIPPETS }),
    ),
  },
  {
    ...closed,
    title: 'ExposureOptions',
    description: 'How the edge serves the host. Without options it serves the host as every other one.',
  },
)
