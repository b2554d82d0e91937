import { type TProperties, Type } from 'typebox'
import {
  HEADER_NAMES,
  HEADER_WORDS,
  LONGEST_HSTS,
  MAX_BODY_GRAMMAR,
  MOST_NETWORKS,
  OPTION_ID_GRAMMAR,
  type ResponseHeaders,
  TIMEOUT_BOUNDS,
} from '../../model/options/grammar.ts'
import { Address, closed, Host, Line, list, oneOf, Port, Sentence, SystemPath, text } from './shapes.ts'

/** The maximum number of reported findings of a site. */
export const MOST_FINDINGS = 1_000
export const LONGEST_DIRECTIVE = 100

const ServerId = text(32)
const Id = Type.String({ pattern: OPTION_ID_GRAMMAR })
const Digest = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })
const seconds = ([minimum, maximum]: readonly [number, number]) => Type.Optional(Type.Integer({ minimum, maximum }))

const headerWords: TProperties = Object.fromEntries(
  HEADER_NAMES.map((name) => [name, Type.Optional(oneOf(HEADER_WORDS[name].words))]),
)
const Headers = Type.Unsafe<ResponseHeaders>(
  closed({
    hsts: Type.Optional(
      closed({
        maxAge: Type.Integer({ minimum: 0, maximum: LONGEST_HSTS }),
        includeSubDomains: Type.Optional(Type.Boolean()),
        preload: Type.Optional(Type.Boolean()),
      }),
    ),
    ...headerWords,
  }),
)

/** The options that a site can become. The service reads them again as it reads those of every caller. */
const SiteOptions = closed({
  maxBody: Type.Optional(Type.String({ pattern: MAX_BODY_GRAMMAR })),
  timeouts: Type.Optional(
    closed({
      connect: seconds(TIMEOUT_BOUNDS.connect),
      read: seconds(TIMEOUT_BOUNDS.read),
      send: seconds(TIMEOUT_BOUNDS.send),
    }),
  ),
  websocket: Type.Optional(Type.Boolean()),
  buffering: Type.Optional(Type.Boolean()),
  headers: Type.Optional(Headers),
  allow: Type.Optional(list(text(50), MOST_NETWORKS)),
  basicAuth: Type.Optional(Id),
  backendTls: Type.Optional(closed({ authority: Id, name: Type.Optional(Host) })),
})

/** Directives by name. Must not contain their places or arguments. */
const Findings = list(closed({ directive: text(LONGEST_DIRECTIVE), sentence: Sentence }), MOST_FINDINGS)

/** `targets`: the deployment targets of the service. A backend elsewhere is none. */
export const SiteQuestion = closed({
  host: Host,
  targets: list(closed({ server: ServerId, address: Address }), MOST_FINDINGS),
})
/** `off`: there is a site, but edge.yaml does not allow adopting it. */
export const SiteAnswer = Type.Union([
  closed({ kind: oneOf(['none', 'off']) }),
  closed({
    kind: Type.Literal('site'),
    backend: Type.Optional(closed({ server: ServerId, port: Port })),
    tls: Type.Boolean(),
    options: Type.Optional(SiteOptions),
    carried: Type.Integer({ minimum: 0 }),
    changed: Findings,
    lost: Findings,
    refused: Findings,
    digest: Digest,
    text: Digest,
    blocks: list(closed({ file: SystemPath, line: Line }), MOST_FINDINGS),
  }),
])
