import { type Static, Type } from 'typebox'
import { CAUSE_CODES } from '../../diagnose/causes.ts'
import { LINKS } from '../../diagnose/chain.ts'
import { closed, oneOf, Time } from './schema-parts.ts'

const nullable = <T extends string>(type: T, options = {}) =>
  Type.Unsafe<(T extends 'string' ? string : T extends 'boolean' ? boolean : number) | null>({
    type: [type, 'null'],
    ...options,
  })

const ListenBody = Type.Object(
  {
    address: nullable('string', { description: '`*` for all addresses; null where the caller may not see it.' }),
    port: nullable('integer', { description: 'Null for a unix socket.' }),
    tls: Type.Boolean(),
    defaultServer: Type.Boolean(),
  },
  closed,
)

const LinkBody = Type.Object(
  {
    link: oneOf(LINKS),
    ok: nullable('boolean', { description: 'Null: not asked, or not to be told; `detail` says why.' }),
    detail: Type.String(),
  },
  closed,
)

const CauseBody = Type.Object(
  {
    code: oneOf(CAUSE_CODES, { description: 'Stable; the page diagnosis.md explains each.' }),
    sentence: Type.String({ description: 'What is so, in plain English.' }),
    advice: Type.String({ description: 'What to do about it.' }),
  },
  closed,
)

export const DiagnosisBody = Type.Object(
  {
    host: Type.String({ examples: ['hello.lab.test'] }),
    badge: Type.String({ examples: ['RUNNING', 'HTTP 502'], description: 'As of this look.' }),
    managed: Type.Boolean({ description: "False: it stands in the edge's own configuration and was not made here." }),
    configPath: nullable('string', {
      description:
        'The file with its server block; never what is in it. A path that is not plain is a quoted JSON string.',
    }),
    configLine: nullable('integer'),
    listen: Type.Array(ListenBody),
    proxyPass: nullable('string', { examples: ['http://192.168.45.25:3000'] }),
    server: nullable('string', { examples: ['25'], description: 'Its id, or its address where it has none.' }),
    file: oneOf(['unchanged', 'edited', 'missing', 'not_ours']),
    chain: Type.Array(LinkBody, { description: 'From the visitor to the backend.' }),
    cause: CauseBody,
    checkedAt: Time,
    tookMs: Type.Integer(),
  },
  { ...closed, title: 'Diagnosis', description: 'The chain from the visitor to the backend, and the one cause.' },
)
export type DiagnosisBody = Static<typeof DiagnosisBody>
