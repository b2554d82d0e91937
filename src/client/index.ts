/** The package `drawbridge/client`: the API as typed functions, for Node and for browsers. */
export type * from './bodies.ts'
export { type ClientOptions, createClient, type DrawbridgeClient } from './client.ts'
export type { AllHosts } from './pages.ts'
export { type ProblemBody, Refusal, Unreachable } from './refusal.ts'
export type { RepairOptions, RunOptions } from './run.ts'
export type { components, operations, paths } from './schema.ts'
export type { StreamOptions } from './stream.ts'
export type { Waited, WaitOptions } from './wait.ts'
