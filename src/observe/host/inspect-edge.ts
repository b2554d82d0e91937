import type { EdgePlace, EdgeView } from '../../edge/contract/edge.ts'
import { type AppliedEntry, stateOf } from '../../edge/contract/list.ts'
import { type Endpoint, listenAddress, listenGap } from '../../model/address.ts'
import type {
  BlockEvidence,
  ConfigurationEvidence,
  ConnectResult,
  Evidence,
  FileState,
  TlsEvidence,
  VisitEvidence,
} from '../../model/evidence.ts'
import type { Deadline, ProbeLimit } from '../deadline.ts'
import { probeTcp } from '../health-probe.ts'
import { isTls, pathOf, type Subject } from './subject.ts'

const FILES_MS = 1_500

export type EdgeEvidence = Pick<
  Evidence,
  'edge' | 'listenGap' | 'tls' | 'visit' | 'isKnown' | 'block' | 'configuration' | 'file'
>

const FILES_NOT_SEEN: Pick<Evidence, 'configuration' | 'file'> = {
  configuration: { own: null, listen: [], broken: [], refusal: null, changedSinceLoad: null },
  file: 'not_ours',
}

export const EDGE_NOT_HERE: EdgeEvidence = {
  edge: 'unknown',
  tls: { kind: 'unknown' },
  visit: { kind: 'unknown' },
  isKnown: null,
  block: { kind: 'unknown' },
  ...FILES_NOT_SEEN,
}

/** Inspects the edge for a host: connection, TLS, response, server block and files. */
export async function inspectEdge(
  view: EdgeView,
  subject: Subject,
  deadline: Deadline,
  probeLimit: ProbeLimit,
): Promise<EdgeEvidence> {
  const { host, managed, served } = subject
  const tls = isTls(subject)
  const gap = managed ? undefined : listenGap(served?.listen ?? [], tls)
  if (gap) {
    const files = await deadline.attempt(FILES_MS, () => inspectFiles(view, subject), FILES_NOT_SEEN)
    return { ...EDGE_NOT_HERE, listenGap: gap, tls: { kind: tls ? 'unknown' : 'not_used' }, ...files }
  }
  const proof = managed?.plan.proof
  const endpoint = managed ? listenAddress([], tls, view) : listenAddress(served?.listen ?? [], tls, view)
  const ask = (where: Endpoint, secure: boolean) =>
    probeLimit.wait<VisitEvidence>(
      (limitMs) => view.visit({ host, path: pathOf(subject), tls: secure, listenAddress: where, proof }, limitMs),
      (seen) => seen.kind === 'no_answer' && seen.reason === 'timeout',
      { kind: 'unknown' },
    )
  const askPlain = async () =>
    (await hasPlainBlock(subject, view)) ? ask({ ...endpoint, port: view.ports.http }, false) : undefined
  const [edge, hand, visit, plain, block, files] = await Promise.all([
    probeLimit.wait<ConnectResult>((limitMs) => probeTcp(endpoint, limitMs, deadline.clock), isTimeout, 'unknown'),
    tls
      ? probeLimit.wait<TlsEvidence>(
          (limitMs) => view.handshake(endpoint, host, limitMs),
          ({ kind }) => kind === 'unknown',
          { kind: 'unknown' },
        )
      : ({ kind: 'not_used' } as const),
    ask(endpoint, tls),
    tls ? askPlain() : undefined,
    blockOf(subject, view, { ...endpoint, tls }),
    deadline.attempt(FILES_MS, () => inspectFiles(view, subject), FILES_NOT_SEEN),
  ])
  return {
    edge,
    tls: hand,
    visit,
    isKnown: knowledge([visit, ...(plain ? [plain] : [])]),
    block,
    ...files,
  }
}

const isTimeout = (reached: ConnectResult): boolean => reached === 'timeout'

async function inspectFiles(view: EdgeView, subject: Subject): Promise<Pick<Evidence, 'configuration' | 'file'>> {
  const file = subject.managed ? await fileState(view, subject.host, subject.managed.entry) : 'not_ours'
  return { file, configuration: await configurationOf(view, subject, file) }
}

async function hasPlainBlock({ host, map }: Subject, view: EdgeView): Promise<boolean> {
  const match = map && (await view.answers(host, { address: view.address, port: view.ports.http, tls: false }))
  return match?.how === 'exact'
}

/** One "no such host" is enough: every visit was to a place where a block of the host should answer. */
function knowledge(visits: readonly VisitEvidence[]): boolean | null {
  if (visits.some((visit) => visit.kind === 'no_answer' && visit.reason === 'unknown_host')) return false
  return visits.some(({ kind }) => kind === 'answer') ? true : null
}

async function blockOf(subject: Subject, view: EdgeView, place: EdgePlace): Promise<BlockEvidence> {
  const { host, map, managed, served } = subject
  if (!map) return { kind: 'unknown' }
  const match = await view.answers(host, place)
  if (!match) return { kind: 'none' }
  const ownPath = managed ? await placeOf(view, host) : served?.configPath
  if (match.how === 'exact' && match.configPath === ownPath) return { kind: 'own' }
  const { how } = match
  if (how === 'unknown') return { kind: 'unknown' }
  return { kind: 'other', how, answering: { path: match.configPath, line: match.line } }
}

/** Where the entry of a host stands. */
const placeOf = async (view: Pick<EdgeView, 'list'>, host: string): Promise<string | undefined> =>
  (await view.list([host])).hosts[0]?.file

/** Compares what stands for a host with what was applied. Undefined: a run changes it, so nobody can tell. */
export async function fileState(
  view: Pick<EdgeView, 'list'>,
  host: string,
  applied: AppliedEntry | undefined,
): Promise<FileState> {
  if (!applied) return 'unknown'
  // What cannot be read is not what was applied.
  const [listed] = await view.list([host]).then(
    ({ hosts }) => hosts,
    () => [],
  )
  return listed ? stateOf(listed, applied) : 'edited'
}

/** A sentence names one of them. Hostile files may have any number. */
const MAX_BROKEN = 20

async function configurationOf(view: EdgeView, subject: Subject, file: FileState): Promise<ConfigurationEvidence> {
  const { host, map, served, managed } = subject
  const ownPath = served?.configPath ?? (managed && file !== 'missing' ? await placeOf(view, host) : undefined)
  const suspects = map?.broken ?? []
  const load = await view.loadState([...(ownPath === undefined ? [] : [ownPath]), ...suspects.map(({ path }) => path)])
  const hasChanged = (path: string) => load.changedSinceLoad?.includes(path) ?? false
  // A run has proven that nginx loaded the file. While the file is unchanged, its date does not matter.
  const isProven = file === 'unchanged' || file === 'unknown'
  return {
    own: ownPath === undefined ? null : { path: ownPath, line: served?.line ?? null },
    listen: served?.listen ?? [],
    broken: suspects.slice(0, MAX_BROKEN),
    refusal: load.refusal,
    changedSinceLoad: ownPath === undefined || load.changedSinceLoad === null ? null : !isProven && hasChanged(ownPath),
  }
}
