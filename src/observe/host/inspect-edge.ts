import type { EdgeView, FileHash } from '../../edge/contract.ts'
import type { ServerMatch } from '../../edge/reading/contract.ts'
import { type Endpoint, listenAddress } from '../../model/address.ts'
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

export type EdgeEvidence = Pick<Evidence, 'edge' | 'tls' | 'visit' | 'isKnown' | 'block' | 'configuration' | 'file'>

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

/** Everything that the edge shows of a host, from its door to its files. */
export async function inspectEdge(
  view: EdgeView,
  subject: Subject,
  deadline: Deadline,
  patience: ProbeLimit,
): Promise<EdgeEvidence> {
  const { host, managed, served } = subject
  const tls = isTls(subject)
  const proof = managed?.plan.proof
  const door = managed ? listenAddress([], tls, view) : listenAddress(served?.listen ?? [], tls, view)
  const ask = (where: Endpoint, secure: boolean) =>
    patience.wait<VisitEvidence>(
      (limitMs) => view.visit({ host, path: pathOf(subject), tls: secure, door: where, proof }, limitMs),
      (seen) => seen.kind === 'no_answer' && seen.reason === 'timeout',
      { kind: 'unknown' },
    )
  const [edge, hand, visit, plain, files] = await Promise.all([
    patience.wait<ConnectResult>((limitMs) => probeTcp(door, limitMs), isTimeout, 'unknown'),
    tls
      ? patience.wait<TlsEvidence>(
          (limitMs) => view.handshake(door, host, limitMs),
          ({ kind }) => kind === 'unknown',
          { kind: 'unknown' },
        )
      : ({ kind: 'not_used' } as const),
    ask(door, tls),
    tls && hasPlainBlock(subject, view) ? ask({ ...door, port: view.ports.http }, false) : undefined,
    deadline.attempt(FILES_MS, () => inspectFiles(view, subject), FILES_NOT_SEEN),
  ])
  return {
    edge,
    tls: hand,
    visit,
    isKnown: knowledge([visit, ...(plain ? [plain] : [])]),
    block: blockOf(subject, view, { ...door, tls }),
    ...files,
  }
}

const isTimeout = (reached: ConnectResult): boolean => reached === 'timeout'

async function inspectFiles(view: EdgeView, subject: Subject): Promise<Pick<Evidence, 'configuration' | 'file'>> {
  const file = subject.managed ? await fileState(view, subject.managed.files) : 'not_ours'
  return { file, configuration: await configurationOf(view, subject, file) }
}

function hasPlainBlock({ host, map }: Subject, { address, ports }: EdgeView): boolean {
  const match = map?.answers(host, { address, port: ports.http, tls: false })
  return match?.how === 'exact'
}

/** One "no such host" is enough: only where a block of the host should have answered was anybody asked. */
function knowledge(visits: readonly VisitEvidence[]): boolean | null {
  if (visits.some((visit) => visit.kind === 'no_answer' && visit.reason === 'unknown_host')) return false
  return visits.some(({ kind }) => kind === 'answer') ? true : null
}

function blockOf(subject: Subject, view: EdgeView, place: Endpoint & { readonly tls: boolean }): BlockEvidence {
  const { host, map, managed, served } = subject
  if (!map) return { kind: 'unknown' }
  const match = map.answers(host, place)
  if (!match) return { kind: 'none' }
  const ownPath = managed ? view.hostPath(host) : served?.configPath
  if (match.how === 'exact' && match.block.configPath === ownPath) return { kind: 'own' }
  return { kind: 'other', how: match.how, answering: placeOf(match) }
}

const placeOf = ({ block }: ServerMatch) => ({ path: block.configPath, line: block.line })

/** Compares files with what was applied. */
export async function fileState(view: Pick<EdgeView, 'hashFiles'>, applied: readonly FileHash[]): Promise<FileState> {
  // What cannot be read any more is not what was applied.
  const now = await view.hashFiles(applied.map(({ path }) => path)).catch(() => undefined)
  if (!now) return 'edited'
  const changed = applied.filter(({ hash }, i) => now[i]?.hash !== hash)
  if (changed.length === 0) return 'unchanged'
  return changed.some(({ path }) => now.find((found) => found.path === path)?.hash === null) ? 'missing' : 'edited'
}

async function configurationOf(view: EdgeView, subject: Subject, file: FileState): Promise<ConfigurationEvidence> {
  const { host, map, served, managed } = subject
  const ownPath = served?.configPath ?? (managed && file !== 'missing' ? view.hostPath(host) : undefined)
  const suspects = map?.broken ?? []
  const load = await view.loadState([...(ownPath === undefined ? [] : [ownPath]), ...suspects.map(({ path }) => path)])
  const isYounger = (path: string) => load.changedSinceLoad?.includes(path) ?? false
  // A run proves that nginx has loaded what it wrote; while that stands unchanged, its date says nothing.
  const isProven = file === 'unchanged'
  return {
    own: ownPath === undefined ? null : { path: ownPath, line: served?.line ?? null },
    listen: served?.listen ?? [],
    broken: suspects.filter(({ path }) => isYounger(path)),
    refusal: load.refusal,
    changedSinceLoad: ownPath === undefined || load.changedSinceLoad === null ? null : !isProven && isYounger(ownPath),
  }
}
