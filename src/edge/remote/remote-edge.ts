import { escapeText } from '../../model/escape-text.ts'
import type { Edge } from '../contract/edge.ts'
import { EdgeFault } from '../contract/fault.ts'
import type { HostList } from '../contract/list.ts'
import type { EdgeQuestion } from '../contract/visit.ts'
import { canonicalEntry, entryFault, isHost } from '../record/entry.ts'
import { type Answered, CHANGE_MS } from '../wire/verbs.ts'
import type { AgentClient } from './agent-client.ts'
import { changeThrough, heldForMs, wireFence } from './remote-change.ts'
import { toldAnswer, toldHandshake } from './told-certificate.ts'

/** An nginx that an agent owns, on this machine or another. */
export function remoteEdge(client: AgentClient): Edge {
  const nothing = async (work: Promise<unknown>): Promise<void> => void (await work)
  return {
    server: client.server,
    prepare: (signal) => nothing(client.call('describe', { prepared: true }, signal, CHANGE_MS)),
    assertValid: (signal) => nothing(client.look('valid', true, signal)),
    assertNoDebugLog: () => nothing(client.look('noDebugLog', true)),
    list: async (hosts) => listIn(client, hosts, await client.call('list', hosts ? { hosts: [...hosts] } : {})),
    change: (change, options) => changeThrough(client, change, options),
    certificate: ({ certificatePem, keyPem }) => client.call('certificate', { certificatePem, keyPem }),
    hasCertificate: async (id) =>
      (await client.call('list', { hosts: [], certificates: [id] })).certificates?.includes(id) ?? false,
    challenge: async ({ host, fence, token, answer }, options = {}) => {
      await options.ensureHeld?.()
      options.assertHeld?.()
      const asked = { host, fence: wireFence(fence), token, answer, heldForMs: heldForMs(options) }
      await client.call('challenge', asked, options.signal)
    },
    unsettledRuns: async () => (await client.call('list', { hosts: [], unsettled: true })).unsettled ?? [],
    ask: (question, signal) =>
      client.visit(questionOf(question), ANSWERS, signal).then(toldAnswer, (error: unknown) => {
        if (isAway(error)) return { kind: 'no_answer', reason: 'unreachable' }
        throw error
      }),
    foreignListeners: async (question, signal) =>
      (await client.visit({ ...questionOf(question), kind: 'others' }, ['others'], signal)).listeners,
    handshake: (host, signal) =>
      client.visit({ kind: 'certificate', host }, HANDSHAKES, signal).then(toldHandshake, (error: unknown) => {
        if (isAway(error)) return { kind: 'unknown' }
        throw error
      }),
  }
}

/**
 * Rejects a list with an invalid host or record, and a list of other hosts than the requested ones. People and models see its text
 * about files and edits, so text that is more than a path or a value is quoted.
 */
export function listIn(
  { server }: AgentClient,
  asked: readonly string[] | undefined,
  told: Answered<'list'>,
): HostList {
  const isOdd = told.hosts.some(
    ({ host, entry }) => !isHost(host) || (entry !== null && (entry.host !== host || entryFault(entry) !== undefined)),
  )
  const isOther =
    asked && (told.hosts.length !== asked.length || asked.some((host, at) => told.hosts[at]?.host !== host))
  if (isOdd || isOther)
    throw new EdgeFault('unavailable', `The agent of edge ${server} lists what is no host or no entry of one.`)
  return {
    ...told,
    hosts: told.hosts.map((one) => ({
      ...one,
      entry: one.entry === null ? null : canonicalEntry(one.entry),
      drift: one.drift.map((drift) => ({
        ...drift,
        ...(drift.expected !== undefined && { expected: escapeText(drift.expected) }),
        ...(drift.found !== undefined && { found: escapeText(drift.found) }),
        ...(drift.alsoTouches && { alsoTouches: drift.alsoTouches.filter(isHost) }),
        file: escapeText(drift.file),
      })),
      file: escapeText(one.file),
    })),
  }
}

/** The kinds of the answers to a request, and to a handshake. */
export const ANSWERS = ['answer', 'no_answer'] as const
export const HANDSHAKES = ['certificate', 'refused', 'unknown'] as const

export const questionOf = ({ host, path, tls, proof }: EdgeQuestion) => ({
  kind: 'answer' as const,
  host,
  path,
  tls,
  ...(proof !== undefined && { proof }),
})

export const isAway = (error: unknown): boolean => error instanceof EdgeFault && error.kind === 'away'
