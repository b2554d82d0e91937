import { type Static, Type } from 'typebox'
import { LONGEST_NOTE, LONGEST_OWNER, PLAN_ID, PLAN_STATES } from '../../model/exposure.ts'
import type { ExposureOptions } from '../../model/options/grammar.ts'
import { STEP_NAMES } from '../../model/run.ts'
import { HEALTH_GRAMMAR, LONGEST_HEALTH, SERVER_GRAMMAR } from '../../plan/desired.ts'
import { OptionsBody } from './option-schemas.ts'
import { LastRunBody, RunBody } from './run-schemas.ts'
import { CheckBody, closed, oneOf, open, Time } from './schema-parts.ts'

export const ExposureRequestBody = Type.Object(
  {
    zone: Type.String({
      format: 'dns-zone',
      maxLength: 254,
      examples: ['lab.test'],
      description: 'A zone of the policy. Upper and lower case are equal.',
    }),
    subdomain: Type.String({
      format: 'dns-label',
      maxLength: 63,
      examples: ['hello'],
      description: 'One label, placed under the zone.',
    }),
    server: Type.String({
      pattern: SERVER_GRAMMAR,
      examples: ['25'],
      description: 'The target server: one of servers.targets in the policy.',
    }),
    port: Type.Integer({
      examples: [3000],
      description: "The backend's port on the target server. The port policy must permit it.",
    }),
    health: Type.String({
      pattern: HEALTH_GRAMMAR,
      maxLength: LONGEST_HEALTH,
      examples: ['/healthz'],
      description: 'The path that must answer HTTP 2xx.',
    }),
    tls: Type.Boolean({ description: 'Whether to set up HTTPS.' }),
    expiresIn: Type.Optional(
      Type.Integer({
        minimum: 300,
        maximum: 2_592_000,
        description: 'Seconds after which the service removes the exposure.',
      }),
    ),
    replaces: Type.Optional(
      Type.String({
        description:
          'The applied plan for the same host whose place this plan takes: a change without a gap. Only for internal callers.',
      }),
    ),
    owner: Type.Optional(
      Type.String({
        format: 'owner',
        maxLength: LONGEST_OWNER,
        examples: ['team-web'],
        description:
          'Who is responsible: a person, a team or an e-mail address. Grants nothing. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.',
      }),
    ),
    note: Type.Optional(
      Type.String({
        format: 'note',
        maxLength: LONGEST_NOTE,
        examples: ['Demo for the sales meeting'],
        description:
          'One line about what the exposure is for. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.',
      }),
    ),
    options: Type.Optional(Type.Unsafe<ExposureOptions>(OptionsBody)),
  },
  { ...closed, title: 'ExposureRequest', description: 'One name bound to one backend.' },
)

/** Of a plan. The digests tell nothing of the site. */
const PlannedRequestBody = Type.Object(
  {
    ...ExposureRequestBody.properties,
    adopt: Type.Optional(
      Type.Object(
        { site: Type.String(), text: Type.String() },
        { ...closed, description: 'Digests of the hand-written site whose place the exposure takes.' },
      ),
    ),
  },
  { ...closed, title: 'PlannedRequest', description: 'The request of a plan.' },
)

export const AdoptionRequestBody = Type.Object(
  {
    host: Type.String({ maxLength: 254, examples: ['shop.lab.test'], description: 'The host of a hand-written site.' }),
    health: Type.Optional(
      Type.String({ pattern: HEALTH_GRAMMAR, maxLength: LONGEST_HEALTH, description: 'Default: /.' }),
    ),
    acceptLoss: Type.Optional(Type.Boolean({ description: 'Whether what cannot be carried over may be lost.' })),
    owner: ExposureRequestBody.properties.owner,
    note: ExposureRequestBody.properties.note,
  },
  { ...closed, title: 'AdoptionRequest', description: 'A hand-written site to take under management.' },
)

const ChangeBody = Type.Object(
  { kind: oneOf(['certificate', 'proxy', 'dns']), action: Type.String() },
  { ...open, title: 'Change', description: 'One change that an apply would make.' },
)

export const PlanBody = Type.Object(
  {
    planId: Type.String({ pattern: PLAN_ID.source, examples: ['plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'] }),
    state: oneOf(PLAN_STATES),
    host: Type.String({ examples: ['hello.lab.test'] }),
    url: Type.String({ examples: ['https://hello.lab.test/'] }),
    request: PlannedRequestBody,
    checks: Type.Array(CheckBody),
    changes: Type.Array(ChangeBody),
    steps: Type.Array(oneOf(STEP_NAMES), {
      description: 'The steps of the apply, in the order in which they will run. Empty for plans of version 0.1.',
    }),
    digest: Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      description: 'Covers the request, the changes and the steps. An apply does exactly this.',
    }),
    createdAt: Time,
    expiresAt: Time,
    createdBy: Type.Optional(Type.String({ description: 'The address of the caller. Only internal callers see it.' })),
    network: Type.Optional(
      oneOf(['internal', 'public', 'self'], {
        description: 'The network from which the plan was made. Only internal callers see it.',
      }),
    ),
    lastRun: Type.Optional(LastRunBody),
    runs: Type.Optional(
      Type.Array(RunBody, { description: 'Every run, oldest first. Only internal callers see runs.' }),
    ),
  },
  { ...closed, title: 'Plan', description: 'The plan.' },
)
export type PlanBody = Static<typeof PlanBody>

const PlanSummaryBody = Type.Pick(
  PlanBody,
  ['planId', 'state', 'host', 'url', 'request', 'createdAt', 'expiresAt', 'createdBy', 'network'],
  { ...closed, title: 'PlanSummary' },
)

/** Query values are text. */
export const PlanPageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({ pattern: '^(?:[1-9][0-9]?|1[0-9][0-9]|200)$', description: '1 to 200. Default: 50.' }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}\\.plan_[0-9a-z]{26}$',
        description: 'The `nextCursor` of the previous page.',
      }),
    ),
  },
  closed,
)

export const PlanPageBody = Type.Object(
  { plans: Type.Array(PlanSummaryBody), nextCursor: Type.Union([Type.String(), Type.Null()]) },
  { ...closed, title: 'PlanPage', description: 'A page of plans, newest first.' },
)
export type PlanPageBody = Static<typeof PlanPageBody>

/** A malformed id must answer `plan_not_found`, so this schema has no pattern. */
export const PlanIdParams = Type.Object({ planId: Type.String() }, closed)

const DifferenceBody = Type.Object(
  {
    part: oneOf(['entry', 'record', 'mark', 'certificate']),
    field: Type.String({
      description:
        'What of an entry differs, such as `backend` or the option `timeouts.read`; the name and type of a record; `served` for the ' +
        'certificate that is shown.',
      examples: ['backend'],
    }),
    expected: Type.String(),
    found: Type.String({ description: '`missing`, or what was found instead, in words. Never a line of a file.' }),
    overwrite: Type.Boolean({
      description: 'Whether a repair would overwrite a change that was made outside Drawbridge.',
    }),
    file: Type.Optional(
      Type.String({
        description:
          'For an entry: the file on the disk of its edge that has this part. It may have parts of other hosts, too.',
        examples: ['/etc/nginx/drawbridge/current/backends/05.map'],
      }),
    ),
    line: Type.Optional(Type.Integer({ minimum: 1, description: 'The line of that file.' })),
    path: Type.Optional(Type.String({ description: 'The same as `file`, for callers of earlier versions.' })),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'When that file was last written.' })),
    alsoTouches: Type.Optional(
      Type.Array(Type.String(), { description: 'Other hosts that the same change touches: at most 20.' }),
    ),
    alsoTouchesMore: Type.Optional(
      Type.Integer({ minimum: 1, description: 'How many more hosts it touches than `alsoTouches` names.' }),
    ),
    server: Type.Optional(
      Type.String({ description: 'The server of the Secondary, for a file that differs there.', examples: ['73'] }),
    ),
  },
  { ...open, title: 'Difference' },
)

export const DriftBody = Type.Object(
  { planId: Type.String(), differences: Type.Array(DifferenceBody) },
  { ...open, title: 'Drift', description: 'How an applied plan differs from files, zone and served certificate.' },
)
