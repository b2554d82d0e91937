import { type Static, Type } from 'typebox'
import { ACTS } from '../../diagnose/acts.ts'
import { CAUSE_CODES } from '../../diagnose/causes.ts'
import { LINKS } from '../../diagnose/chain.ts'
import { CAUSE_LEVELS } from '../../diagnose/rules.ts'
import { closed, oneOf, Time } from './schema-parts.ts'

const PLAN_ID = 'plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'

const nullable = <T extends string>(type: T, options = {}) =>
  Type.Unsafe<(T extends 'string' ? string : T extends 'boolean' ? boolean : number) | null>({
    type: [type, 'null'],
    ...options,
  })

const ListenBody = Type.Object(
  {
    address: nullable('string', { description: '`*` for all addresses. Null if the caller may not see it.' }),
    port: nullable('integer', { description: 'Null for a unix socket.' }),
    tls: Type.Boolean(),
    defaultServer: Type.Boolean(),
    proxyProtocol: Type.Optional(
      Type.Literal(true, { description: 'Visitors come through a proxy that speaks the PROXY protocol.' }),
    ),
    quic: Type.Optional(Type.Literal(true, { description: 'Visitors come with HTTP/3 over UDP only.' })),
  },
  closed,
)

const LinkBody = Type.Object(
  {
    link: oneOf(LINKS),
    ok: nullable('boolean', { description: 'Null: not checked or not known; `detail` says why.' }),
    detail: Type.String(),
  },
  closed,
)

const CauseBody = Type.Object(
  {
    code: oneOf(CAUSE_CODES, { description: 'Stable. docs/diagnosis.md explains each code.' }),
    level: oneOf(CAUSE_LEVELS, {
      description:
        '`good`: the host is healthy. `warning`: visitors notice nothing yet, or nobody can tell. `bad`: they notice it.',
    }),
    sentence: Type.String({ description: 'The cause in one sentence.' }),
    advice: Type.String({ description: 'What to do next.' }),
    acts: Type.Array(oneOf(ACTS), {
      description:
        'What Drawbridge can do about it: `repair`, `overwrite` (repair with `overwrite: true`), `accept`, `renew`, `resolve` (a command on the server). Empty for public callers.',
    }),
  },
  closed,
)

export const DiagnosisBody = Type.Object(
  {
    host: Type.String({ examples: ['hello.lab.test'] }),
    badge: Type.String({ examples: ['RUNNING', 'HTTP 502'], description: 'The badge after this inspection.' }),
    managed: Type.Boolean({
      description: "False: the host is in the edge's configuration, but Drawbridge did not create it.",
    }),
    planId: Type.Optional(
      Type.String({ description: 'The plan of a managed host. Only internal callers see it.', examples: [PLAN_ID] }),
    ),
    configPath: nullable('string', {
      description:
        'The path of the file with its server block or its entry, never its content. A path that is not plain is a quoted JSON string.',
    }),
    configLine: nullable('integer'),
    listen: Type.Array(ListenBody),
    proxyPass: nullable('string', { examples: ['http://192.168.45.25:3000'] }),
    server: nullable('string', {
      examples: ['25'],
      description: 'The id of the server, or its address if it has no id.',
    }),
    file: oneOf(['unchanged', 'edited', 'missing', 'not_ours', 'unknown'], {
      description: '`unknown`: nothing was applied yet that could be compared, as after an apply that is blocked.',
    }),
    chain: Type.Array(LinkBody, { description: 'The links from the visitor to the backend, in order.' }),
    cause: CauseBody,
    checkedAt: Time,
    tookMs: Type.Integer(),
  },
  { ...closed, title: 'Diagnosis', description: 'The links from the visitor to the backend, and the cause.' },
)
export type DiagnosisBody = Static<typeof DiagnosisBody>
