import { escapeText } from '../../model/escape-text.ts'
import type { Clock } from '../../primitives/clock.ts'
import { Slices } from '../../primitives/slices.ts'
import type { ChallengeChange, Change, ChangeItem, ChangeOptions, HostVerdict } from '../contract/change.ts'
import { EdgeFault } from '../contract/fault.ts'
import type { Fences } from '../fences/fences.ts'
import { decide, itemFault, type Known } from './decide.ts'
import type { Member } from './group-commit.ts'
import { generationBefore } from './unsettled.ts'
import type { Batch, Effect, Standing, WebServer } from './web-server.ts'

/** What decides about a change beside the change itself. */
export interface ProposalParts<S extends Standing, O> {
  readonly clock: Clock
  readonly server: string
  readonly folder: string
  readonly web: WebServer<S, O>
  readonly fences: Fences
}

/** A change under way. `verdicts`: what is known of its hosts already. */
export interface Work {
  readonly change: Pick<Change, 'run' | 'items'>
  readonly options: ChangeOptions
  /** A challenge of the host of its only item. */
  readonly challenge?: ChallengeChange
  readonly verdicts: Map<string, HostVerdict>
}

interface Decided<S extends Standing, O> {
  readonly item: ChangeItem
  readonly effect: Effect<S>
  readonly outside: readonly O[]
}

export interface Proposed<S extends Standing, O> {
  readonly member: Member<Work>
  readonly decided: readonly Decided<S, O>[]
}

const NO_FENCE = { host: '', epoch: 0, number: 0 }

/** Decides about each host by what stands now. A host that is refused does not refuse the others. */
export async function propose<S extends Standing, O>(
  member: Member<Work>,
  parts: ProposalParts<S, O>,
  batch: Batch<S, O>,
): Promise<Proposed<S, O>> {
  const { change, challenge, verdicts } = member.work
  const hosts = new Set<string>()
  const slices = new Slices(parts.clock)
  const decideItem = (item: ChangeItem): Decided<S, O>[] => {
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
      const effect = challenge ? answering(challenge, parts, batch) : decide(item, change.run, known(parts, batch))
      if (effect.kind === 'put') batch.assertServable(effect.entry)
      return [{ item, effect, outside: batch.outsideOf(item, effect, change.run) }]
    } catch (error) {
      if (!(error instanceof EdgeFault)) throw error
      verdicts.set(item.host, { host: item.host, state: 'refused', fault: error })
      return []
    }
  }
  const decided: Decided<S, O>[] = []
  for (const item of change.items) {
    const one = decideItem(item)
    // Checks the fence here, in slices: right before the change is entered all are checked at once, without those that were checked before.
    if (one.length > 0) parts.fences.claim([item.fence])
    decided.push(...one)
    if (slices.isOver) await slices.next()
  }
  return { member, decided }
}

function known<S extends Standing, O>(
  { server, web, folder }: ProposalParts<S, O>,
  { isOnlyMissing }: Batch<S, O>,
): Known<S> {
  return {
    server,
    find: (host) => web.find(host),
    before: ({ run }, host) => {
      const number = generationBefore(folder, run)
      return number === undefined ? undefined : { standing: web.findIn(number, host) }
    },
    findIn: (number, host) => (web.isKept(number) ? { standing: web.findIn(number, host) } : undefined),
    whereIs: (host) => web.whereIs(host),
    isOnlyMissing,
    isForeign: (host) => web.isForeign(host),
  }
}

/** A challenge is answered beside the service of the host. What somebody has edited stays. */
function answering<S extends Standing, O>(
  { host, token, answer }: ChallengeChange,
  parts: ProposalParts<S, O>,
  batch: Batch<S, O>,
): Effect<S> {
  const now = parts.web.find(host)
  if (!now?.entry) {
    if (answer === null) return { kind: 'none', isLoaded: false }
    throw new EdgeFault(
      'change_invalid',
      `Edge ${parts.server} does not serve ${host}, so it cannot answer its challenge.`,
    )
  }
  if (answer === null && now.challenge?.token !== token) return { kind: 'none', isLoaded: false }
  if (now.isEdited)
    return decide({ host, fence: NO_FENCE, expected: 'any', wanted: now.entry }, undefined, known(parts, batch))
  return { kind: 'put', entry: now.entry, challenge: answer === null ? undefined : { token, answer } }
}
