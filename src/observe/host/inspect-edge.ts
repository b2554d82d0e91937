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

/** Inspects the edge for a host: connection, TLS, response, server block and files. */
export async function inspectEdge(
  view: EdgeView,
  subject: Subject,
  deadline: Deadline,
  probeLimit: ProbeLimit,
): Promise<EdgeEvidence> {
  const { host, managed, served } = subject
  const tls = isTls(subject)
  const proof = managed?.plan.proof
  const endpoint = managed ? listenAddress([], tls, view) : listenAddress(served?.listen ?? [], tls, view)
  const ask = (where: Endpoint, secure: boolean) =>
    probeLimit.wait<VisitEvidence>(
      (limitMs) => view.visit({ host, path: pathOf(subject), tls: secure, listenAddress: where, proof }, limitMs),
      (seen) => seen.kind === 'no_answer' && seen.reason === 'timeout',
      { kind: 'unknown' },
    )
  const [edge, hand, visit, plain, files] = await Promise.all([
    probeLimit.wait<ConnectResult>((limitMs) => probeTcp(endpoint, limitMs), isTimeout, 'unknown'),
    tls
      ? probeLimit.wait<TlsEvidence>(
          (limitMs) => view.handshake(endpoint, host, limitMs),
          ({ kind }) => kind === 'unknown',
          { kind: 'unknown' },
        )
      : ({ kind: 'not_used' } as const),
    ask(endpoint, tls),
    tls && hasPlainBlock(subject, view) ? ask({ ...endpoint, port: view.ports.http }, false) : undefined,
    deadline.attempt(FILES_MS, () => inspectFiles(view, subject), FILES_NOT_SEEN),
  ])
  return {
    edge,
    tls: hand,
    visit,
    isKnown: knowledge([visit, ...(plain ? [plain] : [])]),
    block: blockOf(subject, view, { ...endpoint, tls }),
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

/** One "no such host" is enough: every visit was to a place where a block of the host should answer. */
function knowledge(visits: readonly VisitEvidence[]): boolean | null {
  if (visits.some((visit) => visit.kind === 'no_answer' && visit.reason === 'unknown_host')) return false
  return visits.some(({ kind }) => kind === 'answer') ? true : null
}

function blockOf(subject: Subject, view: EdgeView, place: Endpoint & { readonly tls: boolean }): BlockEvidence {
  const { host, map, managed, served } = subject
  if (!map) return { kind: 'unknown' }
  const match = map.answers(host, place)
  if (!match) return { kind: 'none' }
  const ownPath = managed ? view.whereIs(host).path : served?.configPath
  if (match.how === 'exact' && match.block.configPath === ownPath) return { kind: 'own' }
  return { kind: 'other', how: match.how, answering: placeOf(match) }
}

const placeOf = ({ block }: ServerMatch) => ({ path: block.configPath, line: block.line })

/** Compares the files on disk with the applied files. */
export async function fileState(view: Pick<EdgeView, 'hashFiles'>, applied: readonly FileHash[]): Promise<FileState> {
  // A file that cannot be read is not the applied file.
  const now = await view.hashFiles(applied.map(({ path }) => path)).catch(() => undefined)
  if (!now) return 'edited'
  const changed = applied.filter(({ hash }, i) => now[i]?.hash !== hash)
  if (changed.length === 0) return 'unchanged'
  return changed.some(({ path }) => now.find((found) => found.path === path)?.hash === null) ? 'missing' : 'edited'
}

async function configurationOf(view: EdgeView, subject: Subject, file: FileState): Promise<ConfigurationEvidence> {
  const { host, map, served, managed } = subject
  const ownPath = served?.configPath ?? (managed && file !== 'missing' ? view.whereIs(host).path : undefined)
  const suspects = map?.broken ?? []
  const load = await view.loadState([...(ownPath === undefined ? [] : [ownPath]), ...suspects.map(({ path }) => path)])
  const hasChanged = (path: string) => load.changedSinceLoad?.includes(path) ?? false
  // A run has proven that nginx loaded the file. While the file is unchanged, its date does not matter.
  const isProven = file === 'unchanged'
  return {
    own: ownPath === undefined ? null : { path: ownPath, line: served?.line ?? null },
    listen: served?.listen ?? [],
    broken: suspects.filter(({ path }) => hasChanged(path)),
    refusal: load.refusal,
    changedSinceLoad: ownPath === undefined || load.changedSinceLoad === null ? null : !isProven && hasChanged(ownPath),
  }
}
