import type { Edge, SiteCertificate, StandingEntry } from '../edge/contract.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { ComparedEdge, SecondaryEntry } from '../model/host-status.ts'
import type { ChosenCertificate, FileHash, Receipt } from '../model/receipt.ts'
import type { RunAction } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { Slices } from '../primitives/slices.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import type { Store } from '../store/ports/store.ts'
import { hashOf } from './file-hash.ts'
import { type StepParts, siteOf } from './steps/context.ts'

/** Only reads. */
type ComparedStore = Pick<Store, 'epoch'> &
  Pick<ExposureStore, 'listExposures'> &
  Pick<PlanStore, 'findPlan'> &
  Pick<RunStore, 'runsOf'>

/** A store of thousands of hosts is compared in slices, so that others work meanwhile. */
const SLICE_MS = 5

/** Plans whose hosts have left the edges. */
const ENDED: readonly PlanState[] = ['removed', 'rolled_back', 'expired', 'replaced', 'released']

/** Runs that decide whether an edge has the host of their plan. */
const DECIDES: readonly RunAction[] = ['apply', 'update', 'remove', 'accept']

/** Compares edges with a store. Changes nothing. */
export class EdgeComparison {
  readonly #store: ComparedStore
  readonly #loadPair: StepParts['loadPair']
  readonly #pairs = new Map<string, Promise<SiteCertificate | undefined>>()
  readonly #slices: Slices

  constructor(store: ComparedStore, loadPair: StepParts['loadPair'], clock: Clock) {
    this.#slices = new Slices(SLICE_MS, clock)
    this.#store = store
    this.#loadPair = loadPair
  }

  /** All exposures, by host. */
  async exposures(): Promise<Map<string, Exposure>> {
    this.#pairs.clear()
    const exposures = new Map<string, Exposure>()
    for await (const exposure of eachExposure(this.#store)) {
      exposures.set(exposure.host, exposure)
      if (this.#slices.isOver) await this.#slices.next()
    }
    return exposures
  }

  /**
   * The Primary is behind where this version writes an entry otherwise, and where it never had the entry: the store was restored on
   * another machine. That is compared only with `rendered`.
   */
  async primary(edge: Edge, exposures: ReadonlyMap<string, Exposure>, rendered: boolean): Promise<ComparedEdge> {
    const isBehind = async (exposure: Exposure) => rendered && this.#isRenderedOtherwise(edge, exposure)
    const { orphans, doubtful, unknown, ...compared } = await this.#compare(edge, exposures, isBehind)
    return { ...compared, orphans: [], doubtful: [], unknown: [...orphans, ...doubtful, ...unknown] }
  }

  /**
   * `primary` tells which removals this store has made: undefined where it is not at hand. `rewritten`: hosts that this edge has as
   * the Primary had them, and that this version writes otherwise; see `twins`.
   */
  async secondary(
    edge: Edge,
    exposures: ReadonlyMap<string, Exposure>,
    primary: Edge | undefined,
    rewritten: readonly string[] = [],
  ): Promise<ComparedEdge> {
    const isRewritten = new Set(rewritten)
    const isBehind = async (exposure: Exposure, entry: StandingEntry | undefined) =>
      lags(edge, exposure, entry) || isRewritten.has(exposure.host)
    return this.#compare(edge, exposures, isBehind, primary)
  }

  /**
   * Those of the hosts that the Secondary has with the same text as the Primary, but for the addresses on which each edge listens: nobody
   * has edited them there. To be asked before the Primary is written again. Empty if the Secondary cannot be read.
   */
  async twins(
    primary: Edge,
    secondary: Edge,
    hosts: readonly string[],
    exposures: ReadonlyMap<string, Exposure>,
  ): Promise<readonly string[]> {
    const pathsOf = (host: string) =>
      (exposures.get(host)?.receipt?.files ?? [])
        .filter(({ path, hash }) => hash !== null && !primary.isCertificateFile(path))
        .map(({ path }) => path)
    const paths = hosts.flatMap(pathsOf)
    const texts = (edge: Edge) => textsByPath(edge, paths).catch(() => new Map<string, string>())
    const [first, second] = await Promise.all([texts(primary), texts(secondary)])
    const isSame = (path: string) => first.has(path) && first.get(path) === second.get(path)
    return hosts.filter((host) => pathsOf(host).length > 0 && pathsOf(host).every(isSame))
  }

  async #compare(
    edge: Edge,
    exposures: ReadonlyMap<string, Exposure>,
    isBehind: (exposure: Exposure, entry: StandingEntry | undefined) => Promise<boolean>,
    primary?: Edge,
  ): Promise<ComparedEdge> {
    const standing = new Map((await edge.list()).map((entry) => [entry.host, entry]))
    const foreign = await this.#foreign(standing, exposures, primary)
    const settled = [...exposures.values()].filter(({ state, runId }) => state === 'applied' && runId === undefined)
    const isUnknown = new Set(foreign.unknown)
    const behind: string[] = []
    for (const exposure of settled) {
      if (this.#slices.isOver) await this.#slices.next()
      if (isUnknown.has(exposure.host)) continue
      if (await isBehind(exposure, standing.get(exposure.host))) behind.push(exposure.host)
    }
    return { server: edge.server, entries: standing.size, behind, ...foreign, stray: await edge.stray() }
  }

  /** Entries that are not those of an exposure. */
  async #foreign(
    standing: ReadonlyMap<string, StandingEntry>,
    exposures: ReadonlyMap<string, Exposure>,
    primary: Edge | undefined,
  ): Promise<Pick<ComparedEdge, 'orphans' | 'doubtful' | 'unknown'>> {
    const unknown: string[] = []
    const ended: { readonly host: string; readonly planId: string }[] = []
    for (const { host, planId } of standing.values()) {
      if (this.#slices.isOver) await this.#slices.next()
      if (planId === undefined || exposures.get(host)?.planId === planId) continue
      const plan = await this.#store.findPlan(planId)
      if (!plan) unknown.push(host)
      else if (!exposures.has(host) && ENDED.includes(plan.state)) ended.push({ host, planId })
    }
    const orphans: string[] = []
    const doubtful: string[] = []
    const removals = await this.#removalsOnPrimary(ended, primary)
    for (const { host, planId } of ended)
      ((await this.#isRemoved(planId, removals.get(host))) ? orphans : doubtful).push(host)
    return { orphans, doubtful, unknown }
  }

  /** The numbers of the runs of this store that have changed these hosts on the Primary last. */
  async #removalsOnPrimary(
    ended: readonly { readonly host: string }[],
    primary: Edge | undefined,
  ): Promise<Map<string, number>> {
    if (ended.length === 0 || !primary) return new Map()
    const epoch = await this.#store.epoch()
    const fences = await primary.fencesOf(ended.map(({ host }) => host))
    return new Map(fences.filter((fence) => fence.epoch === epoch).map(({ host, number }) => [host, number]))
  }

  /** Whether a finished run of this store has taken the host of the plan off the Primary. `number`: that of the last run there. */
  async #isRemoved(planId: string, number: number | undefined): Promise<boolean> {
    const last = (await this.#store.runsOf(planId)).findLast(({ action }) => DECIDES.includes(action))
    if (!last || number === undefined) return false
    if (last.action !== 'apply') return last.state === 'succeeded'
    // What was rolled back may have been applied again since this store was copied.
    return last.state === 'rolled_back' && number <= last.fence
  }

  /** Whether the entry stands as it was applied, or never stood on this edge, and this version writes it otherwise. */
  async #isRenderedOtherwise(edge: Edge, { host, planId, receipt }: Exposure): Promise<boolean> {
    if (!receipt) return false
    const now = await edge.hashFiles(receipt.files.map(({ path }) => path))
    const isAsApplied = now.every(({ hash }, at) => hash === receipt.files[at]?.hash)
    // An edge remembers every host that a run has changed: what was there once and is missing now is drift.
    const isNew = async () => now.every(({ hash }) => hash === null) && (await edge.fencesOf([host])).length === 0
    if (!isAsApplied && !(await isNew())) return false
    const wanted = await this.#wanted(edge, planId, receipt)
    const after = await edge.hashFiles(wanted.map(({ path }) => path))
    return wanted.some((file, at) => hashOf(file).hash !== after[at]?.hash)
  }

  async #wanted(edge: Edge, planId: string, { certificate }: Receipt) {
    const plan = await this.#store.findPlan(planId)
    const pair = certificate && (await this.#pairOf(certificate))
    if (!plan || (certificate && !pair)) return []
    return edge.filesFor({ ...siteOf(plan), certificate: pair })
  }

  /** Thousands of hosts may share a certificate: it is read once in a look. */
  #pairOf(certificate: ChosenCertificate): Promise<SiteCertificate | undefined> {
    const known = this.#pairs.get(certificate.fingerprint)
    const pair = known ?? this.#loadPair(certificate).catch(() => undefined)
    this.#pairs.set(certificate.fingerprint, pair)
    return pair
  }
}

/** What stands at each path, without the lines that differ from edge to edge. Other `listen` lines are an edit of somebody. */
async function textsByPath(edge: Edge, paths: readonly string[]): Promise<Map<string, string>> {
  const [files, own] = await Promise.all([edge.read(paths), edge.listens()])
  const withoutOwn = (text: string) =>
    text.replaceAll(/^ *listen ([^\s;]+)[ a-z0-9]*;\n/gm, (line, at: string) => (own.includes(at) ? '' : line))
  return new Map(files.flatMap(({ path, content }) => (content === null ? [] : [[path, withoutOwn(content)]])))
}

/**
 * Whether an edge has not what was applied, or not in the layout of its settings. An entry of the same plan that somebody edited
 * is drift, and left.
 */
function lags(edge: Edge, { planId, receipt }: Exposure, entry: StandingEntry | undefined): boolean {
  if (!receipt) return false
  const { certificate } = receipt
  // Nobody can give the edge a pair that only other edges have. It gets the host with the next certificate.
  if (certificate?.pairOnEdge && entry?.certificate !== edge.certificateId(certificate.fingerprint)) return false
  if (!entry?.isInLayout) return true
  return (
    entry.planId !== undefined &&
    (entry.planId !== planId || entry.certificate !== (certificate && edge.certificateId(certificate.fingerprint)))
  )
}

/** The files of an exposure on an edge, as they shall stand and as they stand. */
export interface FilesOnEdge {
  readonly server: string
  readonly expected: readonly FileHash[]
  readonly found: readonly FileHash[]
}

/**
 * The files of an exposure on the Secondary. Rejects if the pair of its certificate cannot be read. The receipt tells of the Primary;
 * on the Secondary only listen addresses can differ, so usually nothing has to be rendered.
 */
export async function filesOnSecondary(
  edge: Pick<Edge, 'server' | 'hashFiles' | 'filesFor'>,
  plan: Plan,
  { files, certificate }: Receipt,
  loadPair: StepParts['loadPair'],
): Promise<FilesOnEdge> {
  const { server } = edge
  const same = await edge.hashFiles(files.map(({ path }) => path))
  if (same.every(({ hash }, at) => hash === files[at]?.hash)) return { server, expected: files, found: same }
  const pair = certificate && (await loadPair(certificate))
  const expected = (await edge.filesFor({ ...siteOf(plan), certificate: pair })).map(hashOf)
  return { server, expected, found: await edge.hashFiles(expected.map(({ path }) => path)) }
}

/** What such files say in one word. */
export function secondaryEntry({ expected, found }: FilesOnEdge): SecondaryEntry {
  const differing = expected.filter(({ hash }, at) => found[at]?.hash !== hash)
  if (differing.length === 0) return 'in_step'
  const isGone = (path: string) => found.find((file) => file.path === path)?.hash === null
  return differing.some(({ path, hash }) => hash !== null && isGone(path)) ? 'missing' : 'differs'
}
