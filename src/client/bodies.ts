import type { components, operations } from './schema.ts'

/** The request and response bodies of the API, named as in the OpenAPI document. */
type Schemas = components['schemas']
export type Policy = Schemas['Policy']
export type ExposureRequest = Schemas['ExposureRequest']
export type AdoptionRequest = Schemas['AdoptionRequest']
export type ExposureOptions = NonNullable<ExposureRequest['options']>
export type Plan = Schemas['Plan']
export type PlanPage = Schemas['PlanPage']
export type Drift = Schemas['Drift']
export type Accepted = Schemas['Accepted']
export type Run = Schemas['Run']
export type Applied = Schemas['Applied']
export type Removed = Schemas['Removed']
export type Repaired = Schemas['Repaired']
export type Released = Schemas['Released']
export type Renewed = Schemas['Renewed']
export type Extended = Schemas['Extended']
export type AuditPage = Schemas['AuditPage']
export type DrawbridgeEvent = Schemas['Event']
export type RecentEvents = Schemas['RecentEvents']
export type HostRow = Schemas['HostRow']
export type Hosts = Schemas['Hosts']
export type Diagnosis = Schemas['Diagnosis']
export type MuteRequest = Schemas['MuteRequest']
export type Muted = Schemas['Muted']
export type Health = Schemas['Health']

export type HostsQuery = NonNullable<operations['listHosts']['parameters']['query']>
export type EventsQuery = NonNullable<operations['followEvents']['parameters']['query']>
export type RecentEventsQuery = NonNullable<operations['listEvents']['parameters']['query']>
export type PlansQuery = NonNullable<operations['listPlans']['parameters']['query']>
export type AuditQuery = NonNullable<operations['readAudit']['parameters']['query']>

/** One event of a run. `name` says what happened to the step. */
export interface ProgressEvent extends Progress {
  readonly id: string
  readonly name: string
}
type Progress = Schemas['Progress']
