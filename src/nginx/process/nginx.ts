import type { EdgeAnswer, EdgeQuestion, Handshake } from '../../edge/contract/visit.ts'
import type { DebugLog } from '../../edge/served.ts'
import { askEdge, edgeAnswers, foreignListeners } from '../../edge/visit/ask.ts'
import { tlsHandshake } from '../../edge/visit/handshake.ts'
import type { Refusal } from '../../estate/reading/refusal.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { debugLogReader } from './debug-logs.ts'
import { testConfiguration } from './nginx-program.ts'
import { masterPid } from './nginx-workers.ts'
import { reloadNginx } from './reload.ts'

const HANDSHAKE_MS = 5_000

/** The program nginx: runs, signals, and requests over a socket. Files are not part of it. */
export interface Nginx {
  /** Tests a main file. Undefined when nginx would load it. Rejects with `unavailable` when nginx cannot be run. */
  test(config: string, signal?: AbortSignal): Promise<Refusal | undefined>
  isRunning(): boolean
  /** Loads the configuration on disk. Resolves when the load is proven, rejects with `not_reloaded` otherwise. */
  reload(signal?: AbortSignal): Promise<void>
  /** Whether our own servers answer. */
  answers(signal?: AbortSignal): Promise<boolean>
  ask(question: EdgeQuestion, signal?: AbortSignal): Promise<EdgeAnswer>
  foreignListeners(question: EdgeQuestion, signal?: AbortSignal): Promise<readonly string[]>
  handshake(host: string, signal?: AbortSignal): Promise<Handshake>
  debugLogs(): Promise<readonly DebugLog[]>
}

/** The nginx of this machine. */
export const systemNginx = (settings: EdgeSettings): Nginx => ({
  test: (config, signal) => testConfiguration(settings, config, signal),
  isRunning: () => masterPid(settings.pidFile) !== undefined,
  reload: (signal) => reloadNginx(settings, signal),
  answers: (signal) => edgeAnswers(settings, signal),
  ask: (question, signal) => askEdge(settings, question, undefined, signal),
  foreignListeners: (question, signal) => foreignListeners(settings, question, signal),
  handshake: (host, signal) =>
    tlsHandshake({ address: settings.address, port: settings.ports.https }, host, HANDSHAKE_MS, settings.clock, signal),
  debugLogs: debugLogReader(settings),
})
