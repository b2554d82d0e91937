import { escapeText } from '../../model/escape-text.ts'
import type { RunName } from '../../model/run.ts'
import type { OutsideFile } from '../config/layout.ts'
import { renderParts } from '../config/render-entry.ts'
import type { Listening } from '../config/sockets.ts'
import {
  type ChallengeChange,
  type Change,
  type ChangeItem,
  type ChangeOptions,
  EdgeFault,
  type HostVerdict,
} from '../contract.ts'
import type { Replaced } from '../files/replace.ts'
import { decide, type Effect, itemFault, type Known } from './decide.ts'
import type { Member } from './group-commit.ts'
import type { Pairs } from './pairs.ts'
import type { PresentGeneration } from './present.ts'
import { isOnlyMissing, type Standing } from './standing.ts'
import { generationBefore } from './unsettled.ts'

/** What decides about a change beside the change itself. */
export interface ProposalParts {
  readonly server: string
  readonly folder: string
  readonly present: PresentGeneration
  readonly pairs: Pairs
  /** The files of a host that is not managed any more, and where the first of them lies. */
  readonly released: ReleasedFiles
  readonly sites: TakenOutSites
}

/** What nginx serves a released host by. */
export interface ReleasedFiles {
  /** The files that a release writes. Rejects with an EdgeFault if others stand in their place. */
  readonly of: (standing: Standing, listening: Listening) => readonly OutsideFile[]
  /** The removal of those that a run has written. Throws if somebody has changed them since. */
  readonly undo: (run: RunName, host: string) => readonly OutsideFile[]
  /** Before a run writes these files, or records of sites. */
  readonly note: (run: RunName, files: readonly OutsideFile[]) => Promise<void>
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
   * The record that takes the site of a host out of its files. Undefined without a site. Throws if another run has taken it out, and
   * somebody has written it again.
   */
  readonly record: (site: TakenOut & { readonly text: string | undefined }) => OutsideFile | undefined
  /** The removal of such a record, which puts the site back. Undefined if the run has not taken the site of this host out. */
  readonly putBack: (site: TakenOut) => OutsideFile | undefined
  /** Prepares what a change does to hand-written sites. */
  readonly prepare: (records: readonly OutsideFile[]) => Promise<SiteChange>
}

/** What a change does to files of others. One of `takeBack` and `keep` is called, once. */
export interface SiteChange extends Replaced {
  /** Takes server blocks out of their files. Called when nginx would load entries in their place. */
  takeOut(): void
}

/** A change under way. `verdicts`: what is known of its hosts already. */
export interface Work {
  readonly change: Pick<Change, 'run' | 'items'>
  readonly options: ChangeOptions
  /** A challenge of the host of its only item. */
  readonly challenge?: ChallengeChange
  readonly verdicts: Map<string, HostVerdict>
}

interface Decided {
  readonly item: ChangeItem
  readonly effect: Effect
  readonly outside: readonly OutsideFile[]
}

export interface Proposed {
  readonly member: Member<Work>
  readonly decided: readonly Decided[]
}

const NO_FENCE = { host: '', epoch: 0, number: 0 }

/** Decides about each host by what stands now. A host that is refused does not refuse the others. */
export function propose(member: Member<Work>, parts: ProposalParts, listening: Listening): Proposed {
  const { change, challenge, verdicts } = member.work
  const hosts = new Set<string>()
  const decided = change.items.flatMap((item): Decided[] => {
    if (verdicts.get(item.host)?.state === 'refused') return []
    if (hosts.has(item.host)) throw new EdgeFault('change_invalid', `${item.host} is named twice in one change.`)
    hosts.add(item.host)
    try {
      const fault = itemFault(item)
      if (fault !== undefined)
        throw new EdgeFault(
          'change_invalid',
          `${escapeText(item.host.slice(0, 253))} is not taken: ${fault}. Nothing was changed.`,
        )
      const effect = challenge
        ? answering(challenge, parts, listening)
        : decide(item, change.run, known(parts, listening))
      assertPossible(effect, parts, listening)
      return [{ item, effect, outside: outsideOf(item, effect, change.run, parts, listening) }]
    } catch (error) {
      if (!(error instanceof EdgeFault)) throw error
      verdicts.set(item.host, { host: item.host, state: 'refused', fault: error })
      return []
    }
  })
  return { member, decided }
}

function known({ server, present, folder }: ProposalParts, listening: Listening): Known {
  return {
    server,
    find: (host) => present.find(host),
    before: ({ run }, host) => {
      const number = generationBefore(folder, run)
      return number === undefined ? undefined : { standing: present.findIn(number, host) }
    },
    findIn: (number, host) => (present.isKept(number) ? { standing: present.findIn(number, host) } : undefined),
    whereIs: (host) => present.whereIs(host),
    isOnlyMissing: (standing) => present.linkOf(standing.host) === undefined && isOnlyMissing(standing, listening),
    isForeign: (host) => present.foreignOwnerOf(host) !== undefined,
  }
}

/** A challenge is answered beside the service of the host. What somebody has edited stays. */
function answering({ host, token, answer }: ChallengeChange, parts: ProposalParts, listening: Listening): Effect {
  const now = parts.present.find(host)
  if (!now?.entry) {
    if (answer === null) return { kind: 'none', isLoaded: false }
    throw new EdgeFault(
      'change_invalid',
      `Edge ${parts.server} does not serve ${host}, so it cannot answer its challenge.`,
    )
  }
  if (answer === null && now.challenge?.token !== token) return { kind: 'none', isLoaded: false }
  if (now.isEdited)
    return decide({ host, fence: NO_FENCE, expected: 'any', wanted: now.entry }, undefined, known(parts, listening))
  return { kind: 'put', entry: now.entry, challenge: answer === null ? undefined : { token, answer } }
}

function assertPossible(effect: Effect, { pairs, server }: ProposalParts, listening: Listening): void {
  if (effect.kind !== 'put') return
  const { host, certificate } = effect.entry
  if (certificate !== null && !pairs.isFor(certificate, host))
    throw new EdgeFault(
      'change_invalid',
      pairs.has(certificate)
        ? `The certificate is not for ${host}. Nothing was changed.`
        : `Edge ${server} does not have the certificate that ${host} shall get. Nothing was changed.`,
    )
  renderParts(effect.entry, listening)
}

/** What lies outside the generation. */
function outsideOf(
  { host, wanted, takesOver }: ChangeItem,
  effect: Effect,
  run: RunName | undefined,
  { released, sites }: ProposalParts,
  listening: Listening,
): readonly OutsideFile[] {
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
