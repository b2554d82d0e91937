import { escapeText } from '../../model/escape-text.ts'
import { isCertificateFile, isHost, isSecret, placeOf, releasedFile } from '../config/layout.ts'
import { certificateId, keylessCertificates, renderCertificate, renderEntry } from '../config/render-certificate.ts'
import { renderSite } from '../config/render-site.ts'
import { listensOf } from '../config/sockets.ts'
import { type Edge, EdgeFault, type EdgeFile, type EdgeQuestion } from '../contract.ts'
import { type AgentClient, UnknownVerb } from './agent-client.ts'
import { changeThrough, wireFences } from './remote-change.ts'
import { toldAnswer, toldHandshake } from './told-certificate.ts'

/** An nginx that an agent owns, on this machine or another. What it shall serve is rendered here, and judged by the agent again. */
export function remoteEdge(client: AgentClient): Edge {
  const nothing = async (work: Promise<unknown>): Promise<void> => void (await work)
  const removals = async (host: string, wanted: readonly string[], certificate: string | null) =>
    (await client.call('removals', { host, wanted: [...wanted], certificate })).map(absent)
  return {
    server: client.server,
    prepare: (signal) => nothing(client.call('prepare', {}, signal)),
    assertValid: (signal) => nothing(client.call('assert-valid', {}, signal)),
    assertNoDebugLog: () => nothing(client.call('assert-no-debug-log', {})),
    certificateFiles: renderCertificate,
    certificateEntry: renderEntry,
    certificateId,
    keylessCertificates,
    isCertificateFile,
    async filesFor(site) {
      const { nginx } = await client.describe()
      const files = renderSite(site, nginx, nginx.layout)
      const paths = files.map(({ path }) => path)
      const id = site.certificate ? certificateId(site.certificate.fingerprint) : null
      return [...files, ...(await removals(site.host, paths, id))]
    },
    async filesWithout(host) {
      if (!isHost(host)) throw new Error(`${escapeText(host)} is not a valid host name.`)
      return removals(host, [], null)
    },
    takenOut: (host, planId, expected) =>
      client.call('taken-out', { host, planId, ...(expected !== undefined && { expected }) }),
    unusedCertificates: async () => (await client.call('unused-certificates', {})).map(absent),
    releasedFiles: (host, certificate) =>
      client.call('released', { host, ...(certificate && { certificate: { ...certificate } }) }),
    releasedPath: async (host) =>
      escapeText(placeOf((await client.describe()).nginx.folder, releasedFile(host, 'conf'))),
    generation: () => client.call('generation', {}),
    listens: async () => listensOf((await client.describe()).nginx),
    list: async () => {
      const entries = await client.call('list', {})
      if (!entries.every(({ host }) => isHost(host)))
        throw new EdgeFault('unavailable', `The agent of edge ${client.server} lists a host that is none.`)
      return entries.map(({ host, planId, certificate, isInLayout }) => ({ host, planId, certificate, isInLayout }))
    },
    stray: () =>
      client.call('stray', {}).catch((error: unknown) => {
        if (error instanceof UnknownVerb) return []
        throw error
      }),
    fencesOf: async (hosts) => (hosts.length === 0 ? [] : client.call('fences-of', [...hosts])),
    hashFiles: async (paths) => inOrder(paths, paths.length === 0 ? [] : await client.call('hash', [...paths])),
    read: async (paths) => {
      const readable = paths.filter((path) => !isSecret(path))
      return inOrder(readable, readable.length === 0 ? [] : await client.call('read', readable))
    },
    change: (proposal) => changeThrough(client, proposal),
    raiseFence: async (fences) => nothing(client.call('fence', await wireFences(client, fences))),
    raiseFloor: ({ store, epoch }) =>
      nothing(client.call('raise-floor', { store, epoch })).catch((error: unknown) => {
        if (!(error instanceof UnknownVerb)) throw error
      }),
    unsettledRuns: () =>
      client.call('unsettled', {}).catch((error: unknown) => {
        if (error instanceof UnknownVerb) return []
        throw error
      }),
    settleRuns: async (runs) => {
      if (runs.length > 0) await client.call('settle', [...runs])
    },
    // What cannot be tried out is told by the change itself.
    tryOut: (files, signal) =>
      nothing(client.call('try-out', files.map(plain), signal)).catch(() => signal?.throwIfAborted()),
    forgetTried: () => nothing(client.call('forget-tried', {})).catch(() => undefined),
    ask: (question, signal) =>
      client.call('ask', questionOf(question), signal).then(toldAnswer, (error: unknown) => {
        if (isAway(error)) return { kind: 'no_answer', reason: 'unreachable' }
        throw error
      }),
    foreignListeners: (question, signal) => client.call('foreign-listeners', questionOf(question), signal),
    handshake: (host, signal) =>
      client.call('handshake', { host }, signal).then(toldHandshake, (error: unknown) => {
        if (isAway(error)) return { kind: 'unknown' }
        throw error
      }),
  }
}

const absent = (path: string): EdgeFile => ({ path, content: null, secret: isSecret(path) })

const plain = ({ path, content, secret, link }: EdgeFile) => ({
  path,
  content,
  secret,
  ...(link !== undefined && { link }),
})

export const questionOf = ({ host, path, tls, proof }: EdgeQuestion) => ({
  host,
  path,
  tls,
  ...(proof !== undefined && { proof }),
})

export const isAway = (error: unknown): boolean => error instanceof EdgeFault && error.kind === 'away'

/** An answer about other paths than were asked for is none. */
function inOrder<T extends { readonly path: string }>(paths: readonly string[], found: readonly T[]): readonly T[] {
  if (found.length === paths.length && paths.every((path, at) => found[at]?.path === path)) return found
  throw new EdgeFault('unavailable', 'An agent gave an answer about other files than it was asked for.')
}
