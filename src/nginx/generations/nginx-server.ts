import { join } from 'node:path'
import type { ChangeItem } from '../../edge/contract/change.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import type {
  Batch,
  Effect,
  NextGeneration,
  OutsideChange,
  Place,
  Staged as StagedGeneration,
  WebServer,
} from '../../edge/engine/web-server.ts'
import { GENERATIONS } from '../../edge/layout.ts'
import type { Entry } from '../../edge/record/entry.ts'
import { isAdopted, isReleased, type OutsideFile } from '../../estate/layout.ts'
import { refusalSentence } from '../../estate/reading/refusal.ts'
import type { RunName, UnsettledRun } from '../../model/run.ts'
import { Slices } from '../../primitives/slices.ts'
import { renderParts } from '../config/render-entry.ts'
import type { Listening } from '../config/sockets.ts'
import type { Replaced } from '../files/replace.ts'
import { Draft } from './draft.ts'
import type { Pairs } from './pairs.ts'
import { type RefreshParts, refresh } from './refresh.ts'
import { discard, enter, forgetOld, formerOf, isUpToDate, pointTo, type Staged } from './stage.ts'
import { isOnlyMissing, type Standing } from './standing.ts'
import { type Drafted, Trials } from './trials.ts'
import { forgetUnused } from './unused-pairs.ts'

/** The files by which nginx serves a released host. */
export interface ReleasedFiles {
  /** The files that a release writes. Throws an EdgeFault if other files are in their place. */
  readonly of: (standing: Standing, listening: Listening) => readonly OutsideFile[]
  /** Removes the files that a run has written. Throws if they have been changed since. */
  readonly undo: (run: RunName, host: string) => readonly OutsideFile[]
  /** Call it before a run writes these files, or records of sites. */
  readonly note: (run: RunName, files: readonly OutsideFile[]) => Promise<void>
  readonly install: (files: readonly OutsideFile[]) => Promise<Replaced>
  readonly placeOf: (host: string) => string
}

/** The site of a host, and the plan and the run that take it out of its files. */
export interface TakenOut {
  readonly host: string
  readonly plan: string
  readonly run: RunName | undefined
}

interface TakenOutSites {
  /**
   * The record that takes the site of a host out of its files. Undefined without a site. Throws if another run has taken the site
   * out, and the administrator has written it again.
   */
  readonly record: (site: TakenOut & { readonly text: string | undefined }) => OutsideFile | undefined
  /** The removal of such a record, which puts the site back. Undefined if the run has not taken out the site of this host. */
  readonly putBack: (site: TakenOut) => OutsideFile | undefined
  /** Prepares the effects of a change on hand-written sites. */
  readonly prepare: (records: readonly OutsideFile[]) => Promise<OutsideChange>
}

export interface NginxServerParts extends RefreshParts {
  readonly server: string
  readonly pairs: Pairs
  readonly listening: () => Promise<Listening>
  readonly assertValid: () => Promise<void>
  readonly assertNoDebugLog: () => Promise<void>
  readonly released: ReleasedFiles
  readonly sites: TakenOutSites
  /** Called with unsettled runs whose former generations are removed: see `forgetOld`. */
  readonly onForgottenRuns?: ((runs: readonly UnsettledRun[]) => void) | undefined
}

/** nginx as the web server of an edge: generations are folders of files that nginx includes. */
export class NginxServer implements WebServer<Standing, OutsideFile> {
  readonly #parts: NginxServerParts
  readonly #trials: Trials
  /** Generations that are kept without private keys. */
  readonly #keyless = new Set<number>()

  constructor(parts: NginxServerParts) {
    this.#parts = parts
    this.#trials = new Trials(parts)
  }

  get number(): number | undefined {
    return this.#parts.present.number
  }

  find(host: string): Standing | undefined {
    return this.#parts.present.find(host)
  }

  findIn(number: number, host: string): Standing | undefined {
    return this.#parts.present.findIn(number, host)
  }

  isKept(number: number): boolean {
    return this.#parts.present.isKept(number)
  }

  whereIs(host: string): Place {
    return this.#parts.present.whereIs(host)
  }

  isForeign(host: string): boolean {
    return this.#parts.present.foreignOwnerOf(host) !== undefined
  }

  async begin(): Promise<Batch<Standing, OutsideFile>> {
    const { present, pairs, folder, clock } = this.#parts
    const listening = await this.#parts.listening()
    const former = formerOf(folder, present.number)
    return {
      isOnlyMissing: (standing) => present.linkOf(standing.host) === undefined && isOnlyMissing(standing, listening),
      assertServable: (entry) => this.#assertServable(entry, listening),
      outsideOf: (item, effect, run) => this.#outsideOf(item, effect, run, listening),
      draft: async (effects) => {
        const draft = new Draft({ present, pairs, listening })
        const slices = new Slices(clock)
        for (const { host, effect } of effects) {
          if (effect.kind === 'put') draft.put(effect.entry, effect.challenge)
          else if (effect.kind === 'restore') draft.restore(effect.standing)
          else if (effect.kind !== 'none') draft.remove(host)
          if (slices.isOver) await slices.next()
        }
        const texts = await draft.texts(slices)
        // nginx includes another generation. Who asks for nothing that it must have loaded needs no other one.
        const isAway = !present.isIncluded
        const isNeeded = effects.some(({ effect }) => effect.kind !== 'none' || effect.isLoaded)
        const isSame = texts.size === 0 && !(isAway && isNeeded)
        return this.#next({ former, texts }, { isSame, isServedOtherwise: draft.isServedOtherwise || isAway })
      },
    }
  }

  #assertServable(entry: Entry, listening: Listening): void {
    const { pairs, server } = this.#parts
    const { host, certificate } = entry
    if (certificate !== null && !pairs.isFor(certificate, host))
      throw new EdgeFault(
        'change_invalid',
        pairs.has(certificate)
          ? `The certificate is not for ${host}. Nothing was changed.`
          : `Edge ${server} does not have the certificate that ${host} shall get. Nothing was changed.`,
      )
    renderParts(entry, listening)
  }

  #outsideOf(
    { host, wanted, takesOver }: ChangeItem,
    effect: Effect<Standing>,
    run: RunName | undefined,
    listening: Listening,
  ): readonly OutsideFile[] {
    const { released, sites } = this.#parts
    if (effect.kind === 'release') return released.of(effect.standing, listening)
    const site = takesOver && { host, plan: takesOver.plan, run }
    if (wanted === 'before')
      return [
        ...(run ? released.undo(run, host) : []),
        ...[site && sites.putBack(site)].filter((file) => file !== undefined),
      ]
    const record = site && sites.record({ ...site, text: takesOver.text })
    return record ? [record] : []
  }

  #next(
    drafted: Drafted,
    differs: Pick<NextGeneration<OutsideFile>, 'isSame' | 'isServedOtherwise'>,
  ): NextGeneration<OutsideFile> {
    const { server } = this.#parts
    return {
      ...differs,
      stageTested: async (outside, signal) => {
        const tried = await this.#trials.stageTested(drafted, outside, signal)
        if (!('refusal' in tried)) return { staged: this.#staged(tried.staged) }
        const reason = refusalSentence(tried.refusal)
        return {
          refused: new EdgeFault(
            'change_invalid',
            `nginx on edge ${server} rejected the change: ${reason}. Nothing was changed.`,
          ),
        }
      },
      stageUntested: async () => {
        const staged = await this.#trials.staged(drafted)
        await staged.durable
        return this.#staged(staged)
      },
    }
  }

  #staged(staged: Staged): StagedGeneration {
    return {
      number: staged.number,
      isUpToDate: () => isUpToDate(staged),
      enter: () => enter(this.#parts.folder, staged),
      discard: () => discard(staged),
    }
  }

  assertValid(): Promise<void> {
    return this.#parts.assertValid()
  }

  assertNoDebugLog(): Promise<void> {
    return this.#parts.assertNoDebugLog()
  }

  needsOwnGeneration({ path }: OutsideFile): boolean {
    return isAdopted(path)
  }

  noteOutside(run: RunName, file: OutsideFile): Promise<void> {
    return this.#parts.released.note(run, [file])
  }

  async prepareOutside(files: readonly OutsideFile[]): Promise<OutsideChange> {
    const { released, sites } = this.#parts
    const installed = await released.install(files.filter(({ path }) => isReleased(path)))
    const taken = await sites.prepare(files.filter(({ path }) => isAdopted(path))).catch((error: unknown) => {
      installed.takeBack()
      throw error
    })
    return {
      takeOut: () => taken.takeOut(),
      takeBack: () => {
        taken.takeBack()
        installed.takeBack()
      },
      keep: () => {
        installed.keep()
        taken.keep()
      },
    }
  }

  releasedPlace(host: string): string {
    return this.#parts.released.placeOf(host)
  }

  async enterAgain(number: number): Promise<void> {
    const { folder } = this.#parts
    // See `enteredNumber`: the link goes back before the base file.
    pointTo(folder, number)
    return enter(folder, { number, folder: join(folder, GENERATIONS, String(number)) })
  }

  reload(signal?: AbortSignal): Promise<void> {
    return this.#parts.reload(signal)
  }

  async refresh({
    isRunning,
    signal,
  }: {
    readonly isRunning: boolean
    readonly signal: AbortSignal | undefined
  }): Promise<{ readonly number: number; readonly former: number | undefined } | undefined> {
    const { pairs } = this.#parts
    const listening = await this.#parts.listening()
    return refresh(this.#parts, this.#trials, { pairs, listening, isRunning, signal })
  }

  forgetOld(present: number, former: number | undefined): void {
    const { folder, clock, onForgottenRuns = () => undefined } = this.#parts
    forgetOld(folder, { present, former, keyless: this.#keyless, now: clock.now(), onForgottenRuns })
      .then(() => forgetUnused(this.#parts, former))
      .catch(() => undefined)
  }
}
