import { sentenceOf } from '../model/errors.ts'
import type { HostsChecked } from '../model/host-status.ts'
import type { Pruned } from '../store/ports/store.ts'
import type { Converged } from './converge.ts'
import type { Recovered } from './engine/recover.ts'
import type { Expired } from './expiry.ts'
import type { LateRecords } from './late-records.ts'
import type { Remarked } from './marks.ts'
import type { Renewed } from './renewal/renewals.ts'

/** The duties that can be run by request, in the order in which all of them run. */
export const DUTIES = ['recover', 'converge', 'expire', 'renew', 'marks', 'check', 'prune'] as const
export type DutyName = (typeof DUTIES)[number]

/** What one run of a duty did. */
export interface DutyReport {
  readonly duty: DutyName
  /** False: something could not be done. */
  readonly ok: boolean
  /** How many hosts were changed; for check, how many have another badge; for prune, how many rows were deleted. */
  readonly changed: number
  /** The changed hosts, at most `MOST_HOSTS` of them. */
  readonly hosts: readonly string[]
  readonly sentence: string
}

/** What a duty resolves with. */
export interface DutyResults {
  readonly recover: Recovered
  readonly converge: readonly Converged[]
  readonly expire: Expired
  readonly renew: Renewed
  readonly marks: Remarked & LateRecords
  readonly check: HostsChecked
  readonly prune: Pruned
}

/**
 * Why a duty was not run: this instance does not reach the edge, another instance does the duty now, or another instance is the
 * only one to do it.
 */
export type NotDone = 'no_edge' | 'elsewhere' | 'others_duty'

const MOST_HOSTS = 100
const MOST_NAMED = 5
const LONGEST_REASON = 500

export function dutyReport<Name extends DutyName>(duty: Name, result: DutyResults[Name] | NotDone): DutyReport {
  if (result === 'no_edge')
    return report(duty, [], ['this instance does not reach the edge; an instance that reaches it does this'])
  if (result === 'others_duty')
    return report(duty, [], ['another instance on this store does this; run the command on its machine'])
  if (result === 'elsewhere') return report(duty, [], ['another instance is doing this'], false)
  return SENTENCES[duty](result)
}

export const failedDuty = (duty: DutyName, error: unknown): DutyReport =>
  report(duty, [], [`failed and will be tried again: ${short(sentenceOf(error))}`], false)

export const dutyUnderWay = (duty: DutyName, minutes: number): DutyReport =>
  report(duty, [], [`still under way after ${minutes} minutes; it goes on, see the log of the service`], false)

const SENTENCES: { readonly [Name in DutyName]: (result: DutyResults[Name]) => DutyReport } = {
  recover: ({ finished, failed }) =>
    report(
      'recover',
      finished,
      [
        finished.length > 0 ? `${counted(finished.length, 'run was', 'runs were')} finished` : '',
        failed.length > 0
          ? `${counted(failed.length, 'run', 'runs')} could not be finished and will be tried again: ${named(failed)}`
          : '',
        finished.length + failed.length === 0 ? 'no interrupted run was found' : '',
      ],
      failed.length === 0,
    ),
  converge: (edges) => {
    const hosts = edges.flatMap((edge) => edge.hosts)
    const behind = edges.filter(({ outOfStep }) => outOfStep !== undefined)
    return report(
      'converge',
      hosts,
      [
        ...edges.flatMap((edge) =>
          edge.hosts.length > 0
            ? [`${counted(edge.hosts.length, 'host', 'hosts')} brought into step on edge ${edge.server}`]
            : [],
        ),
        ...behind.map(({ server, outOfStep = '' }) => `edge ${server} is not in step: ${short(outOfStep)}`),
        hosts.length + behind.length === 0 ? 'every edge is in step' : '',
      ],
      behind.length === 0,
    )
  },
  expire: ({ removed, failed, waiting }) =>
    report(
      'expire',
      removed,
      [
        removed.length > 0 ? `${counted(removed.length, 'exposure was', 'exposures were')} removed` : '',
        failed.length > 0 ? `${counted(failed.length, 'removal', 'removals')} failed: ${named(failed)}` : '',
        waiting > 0 ? `${counted(waiting, 'removal waits', 'removals wait')} for another attempt` : '',
        removed.length + failed.length + waiting === 0 ? 'nothing was due' : '',
      ],
      failed.length + waiting === 0,
    ),
  renew: ({ hosts, failed }) =>
    report(
      'renew',
      hosts,
      [
        hosts.length > 0 ? `${counted(hosts.length, 'host has', 'hosts have')} a new certificate` : '',
        failed.length > 0
          ? `${counted(failed.length, 'certificate was', 'certificates were')} not renewed: ${named(failed)}`
          : '',
        hosts.length + failed.length === 0 ? 'nothing was due' : '',
      ],
      failed.length === 0,
    ),
  marks: ({ rewritten, failed, withdrawn, left }) =>
    report(
      'marks',
      [...rewritten, ...withdrawn],
      [
        rewritten.length > 0 ? `${counted(rewritten.length, 'owner mark was', 'owner marks were')} rewritten` : '',
        failed.length > 0
          ? `${counted(failed.length, 'owner mark still names', 'owner marks still name')} a plan and will be tried again: ${named(failed)}`
          : '',
        withdrawn.length > 0
          ? `records that came after their rollback were removed: ${counted(withdrawn.length, 'host', 'hosts')}`
          : '',
        left.length > 0
          ? `records that came after their rollback could not be removed and will be tried again: ${named(left)}`
          : '',
        [rewritten, failed, withdrawn, left].every((hosts) => hosts.length === 0) ? 'no owner mark names a plan' : '',
      ],
      failed.length + left.length === 0,
    ),
  check: ({ checked, changed, busy, failed }) => {
    const badges = changed.map(({ host, badge }) => `${host} is ${badge}`)
    const told = [
      `${counted(checked, 'host was', 'hosts were')} checked`,
      badges.length > 0 ? `${counted(badges.length, 'badge', 'badges')} changed: ${named(badges)}` : 'no badge changed',
      busy.length > 0 ? `left to the run that changes the host: ${named(busy)}` : '',
      failed.length > 0 ? `${counted(failed.length, 'check', 'checks')} failed: ${named(failed)}` : '',
    ]
    return report(
      'check',
      changed.map(({ host }) => host),
      told,
      failed.length === 0,
    )
  },
  prune: ({ plans, events, auditLines }) => {
    const deleted = [
      [plans, 'plan', 'plans'],
      [events, 'event', 'events'],
      [auditLines, 'audit line', 'audit lines'],
    ] as const
    const parts = deleted.filter(([count]) => count > 0).map(([count, one, many]) => counted(count, one, many))
    const told = parts.length > 0 ? `deleted: ${parts.join(', ')}` : 'nothing was old enough'
    return { ...report('prune', [], [told]), changed: plans + events + auditLines }
  },
}

const report = (duty: DutyName, hosts: readonly string[], told: readonly string[], ok = true): DutyReport => ({
  duty,
  ok,
  changed: hosts.length,
  hosts: hosts.slice(0, MOST_HOSTS),
  sentence: `${duty}: ${told.filter((part) => part !== '').join('; ')}`.replace(/[^.]$/, '$&.'),
})

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

const named = (names: readonly string[]): string =>
  names.length > MOST_NAMED
    ? `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`
    : names.join(', ')

const short = (reason: string): string =>
  reason.length > LONGEST_REASON ? `${reason.slice(0, LONGEST_REASON)}…` : reason
