import { type Static, Type } from 'typebox'
import { RUN_ACTIONS } from '../../model/run.ts'
import { closed, oneOf, open, Time } from './schema-parts.ts'

/** Bodies of the routes that run a plan. */
const PlanId = Type.String({ examples: ['plan_4c7p0wq9d2f6h8k1m3n5r7t9v0'] })
const Host = Type.String({ examples: ['hello.lab.test'] })

export const RunRequestBody = Type.Object({ planId: PlanId }, closed)

export const RepairRequestBody = Type.Object(
  {
    planId: PlanId,
    overwrite: Type.Optional(
      Type.Boolean({ description: 'Whether to overwrite what was changed outside Drawbridge. Default: false.' }),
    ),
  },
  closed,
)

export const ExtendRequestBody = Type.Object(
  {
    planId: PlanId,
    expiresIn: Type.Integer({ minimum: 300, maximum: 2_592_000, description: 'Seconds from now.' }),
  },
  closed,
)

const StepBody = Type.Object(
  {
    name: Type.String({ examples: ['proxy'] }),
    status: oneOf(['done', 'failed', 'undone', 'undo_failed']),
    ms: Type.Number(),
    detail: Type.Optional(Type.String()),
  },
  { ...closed, title: 'Step' },
)

const EdgeVerdictBody = Type.Object({ server: Type.String(), ok: Type.Boolean(), detail: Type.String() }, open)

const VerificationBody = Type.Object(
  { primary: EdgeVerdictBody, secondary: Type.Union([EdgeVerdictBody, Type.Null()]) },
  closed,
)

export const AppliedBody = Type.Object(
  {
    planId: PlanId,
    state: Type.Literal('applied'),
    host: Host,
    url: Type.String({ examples: ['https://hello.lab.test/'] }),
    steps: Type.Array(StepBody),
    verification: VerificationBody,
    warnings: Type.Array(Type.String()),
    appliedAt: Time,
  },
  { ...closed, title: 'Applied', description: 'The plan is applied.' },
)

export const RemovedBody = Type.Object(
  { planId: PlanId, state: Type.Literal('removed'), host: Host, steps: Type.Array(StepBody), removedAt: Time },
  { ...closed, title: 'Removed', description: 'The exposure is removed.' },
)

export const RepairedBody = Type.Object(
  {
    planId: PlanId,
    state: Type.Literal('applied'),
    host: Host,
    url: Type.String({ examples: ['https://hello.lab.test/'] }),
    steps: Type.Array(StepBody),
    verification: VerificationBody,
    warnings: Type.Array(Type.String()),
    repairedAt: Time,
  },
  { ...closed, title: 'Repaired', description: 'The exposure is as its plan says again.' },
)

export const ReleasedBody = Type.Object(
  {
    planId: PlanId,
    state: Type.Literal('released'),
    host: Host,
    steps: Type.Array(StepBody),
    file: Type.Union([Type.String(), Type.Null()], {
      description: 'The path of the file on the Primary that serves the host from now on. Null: no file was written.',
    }),
    warnings: Type.Array(Type.String()),
    releasedAt: Time,
  },
  { ...closed, title: 'Released', description: 'Drawbridge no longer manages the host.' },
)

export const AcceptedBody = Type.Object(
  {
    planId: PlanId,
    host: Host,
    progress: Type.String({ description: 'The path of the event stream with the steps.' }),
  },
  { ...closed, title: 'Accepted', description: 'The run has started.' },
)

export const ExtendedBody = Type.Object(
  { planId: PlanId, expiresAt: Time },
  { ...closed, title: 'Extended', description: 'The new end of the exposure.' },
)

export const RenewedBody = Type.Object(
  {
    planId: PlanId,
    state: Type.Literal('applied'),
    host: Host,
    certificate: Type.Object(
      {
        names: Type.Array(Type.String()),
        notBefore: Time,
        notAfter: Time,
        fingerprint: Type.String({ description: 'SHA-256 of the certificate.' }),
        source: oneOf(['issued', 'reused'], {
          description: '`issued`: the authority issued a new one. `reused`: the certificate folders had a better one.',
        }),
      },
      closed,
    ),
    warnings: Type.Array(Type.String()),
    renewedAt: Time,
  },
  { ...closed, title: 'Renewed', description: 'The new certificate of the host.' },
)

export const LastRunBody = Type.Object(
  {
    action: oneOf(RUN_ACTIONS),
    state: oneOf(['running', 'succeeded', 'rolled_back', 'blocked']),
    startedAt: Time,
    finishedAt: Type.Union([Time, Type.Null()]),
    steps: Type.Array(
      Type.Object({ name: Type.String(), status: Type.String(), detail: Type.Optional(Type.String()) }, closed),
    ),
  },
  { ...closed, title: 'LastRun', description: 'The newest run with its steps.' },
)
export type LastRunBody = Static<typeof LastRunBody>

const RunEventBody = Type.Object(
  {
    id: Type.String(),
    name: oneOf(['started', 'done', 'failed', 'undoing', 'undone', 'undo_failed', 'end']),
    step: Type.String({ description: 'The step, or `run` for the run as a whole.' }),
    at: Time,
    detail: Type.Optional(Type.String()),
    state: Type.Optional(Type.String({ description: "The plan's state after the run. Only in the event `end`." })),
    verification: Type.Optional(VerificationBody),
  },
  { ...closed, description: 'The same events as in the stream of the plan.' },
)

export const RunBody = Type.Object(
  {
    action: oneOf(RUN_ACTIONS),
    state: oneOf(['running', 'succeeded', 'rolled_back', 'blocked']),
    startedAt: Time,
    finishedAt: Type.Union([Time, Type.Null()]),
    actor: Type.Optional(Type.String({ description: 'Who requested the run. Only internal callers see it.' })),
    events: Type.Array(RunEventBody),
  },
  { ...closed, title: 'Run', description: 'One run with its events.' },
)
export type RunBody = Static<typeof RunBody>

/** The data of one event in the stream of a plan. The name of the event says what happened to the step. */
export const ProgressBody = Type.Object(
  {
    action: oneOf(RUN_ACTIONS),
    step: Type.String({ examples: ['proxy'] }),
    at: Time,
    detail: Type.Optional(Type.String()),
    state: Type.Optional(Type.String({ description: "The plan's state after the run. Only in the event `end`." })),
    verification: Type.Optional(VerificationBody),
  },
  { ...closed, title: 'Progress', description: 'What happened to a step.' },
)
