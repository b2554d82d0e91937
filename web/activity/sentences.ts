import { ERRORS, type ErrorCode } from '../../src/model/errors.ts'
import type { AuditLine } from '../api/audit.ts'
import type { HostEvent } from '../api/events.ts'
import { inFull, withDates } from '../parts/time.ts'

/** What happened, in a sentence around the name of the host. */
export interface Sentence {
  readonly before: string
  readonly after: string
  /** The heaviest line of a burst stands for the others. */
  readonly weight: number
  readonly tone: 'good' | 'bad' | 'warning' | 'calm'
}

type Facts = HostEvent['data']['facts']

const about = (before: string, after: string, weight: number, tone: Sentence['tone'] = 'calm'): Sentence => ({
  before,
  after,
  weight,
  tone,
})

/** `The apply of` one host and `The applies of` several, from the name of an action. */
const NOUNS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  apply: ['The apply of ', 'The applies of '],
  update: ['The change of ', 'The changes of '],
  remove: ['The removal of ', 'The removals of '],
  repair: ['The repair of ', 'The repairs of '],
  accept: ['The accept of ', 'The accepts of '],
  renew: ['The renewal of ', 'The renewals of '],
}

/** `isSeveral`: the number of hosts stands in the place of the name. */
export function ofEvent(type: HostEvent['type'], facts: Facts, isSeveral = false): Sentence {
  const of = (one: string, several: string): string => (isSeveral ? several : one)
  const [was, has, is, s] = [of('was', 'were'), of('has', 'have'), of('is', 'are'), of('s', '')]
  const certificate = of('The certificate of ', 'The certificates of ')
  const said = (name: string): string => (typeof facts[name] === 'string' ? facts[name] : '')
  const reason = said('reason') ? `: ${withDates(said('reason'))}` : ''
  const noun = of(...(NOUNS[said('action')] ?? ['A run of ', 'Runs of ']))
  switch (type) {
    case 'host.badge':
      return ofBadge(said('before'), said('badge'), { was, is })
    case 'plan.refused':
      return about(of('A plan for ', 'Plans for '), ` ${was} refused${titleOf(said('code'))}`, 3, 'warning')
    case 'exposure.applied':
      return about('', ` ${was} exposed on server ${facts.server}, port ${facts.port}`, 5, 'good')
    case 'exposure.extended':
      return about('', ` ${was} extended${until(said('expiresAt'))}`, 5)
    case 'exposure.released':
      return about('', ` ${was} released and stay${s} on the air, unmanaged`, 5)
    case 'exposure.expired':
      return about('', of(' removed itself at its time', ' removed themselves at their time'), 5)
    case 'exposure.rolled_back':
      return about(noun, ` failed and ${was} rolled back${reason}`, 6, 'warning')
    case 'exposure.blocked':
      return about(noun, ` failed and could not be rolled back${reason}`, 7, 'bad')
    case 'host.alert':
      return about('', ` ${has} been ${said('badge')} for too long`, 4, 'bad')
    case 'host.alert_ended':
      return about(of('The alert of ', 'The alerts of '), ` ${has} ended`, 4, 'good')
    case 'host.muted':
      return about('', ` ${was} muted${until(said('until'))}${said('note') && `: ${said('note')}`}`, 5)
    case 'host.unmuted':
      return about(of('The mute of ', 'The mutes of '), ` ${has} ended`, 5)
    case 'certificate.warning':
    case 'certificate.critical':
      return about(certificate, ` end${s} soon${until(said('notAfter'), ', valid until ')}`, 4, 'warning')
    case 'certificate.expired':
      return about(certificate, ` ${has} expired`, 6, 'bad')
    case 'certificate.recovered':
      return about(certificate, ` ${is} well again`, 4, 'good')
    case 'certificate.renewed':
      return about(certificate, ` ${was} renewed${until(said('notAfter'), ', valid until ')}`, 5, 'good')
    case 'certificate.renewal_failed':
      return about(
        of('The renewal of the certificate of ', 'The renewals of the certificates of '),
        ` failed${reason}`,
        6,
        'bad',
      )
    default:
      // `exposure.updated`, `exposure.repaired`, `exposure.removed`.
      return about('', ` ${was} ${type === 'exposure.updated' ? 'changed' : type.replace('exposure.', '')}`, 5, 'good')
  }
}

function ofBadge(before: string, badge: string, { was, is }: Readonly<Record<'was' | 'is', string>>): Sentence {
  const tone = badge === 'RUNNING' ? 'good' : badge === 'PENDING' ? 'calm' : badge === 'DRIFT' ? 'warning' : 'bad'
  if (before === 'PENDING' && badge === 'RUNNING') return about('', ` ${was} seen RUNNING`, 1, 'good')
  return about('', before === '' ? ` ${is} ${badge}` : ` went from ${before} to ${badge}`, 4, tone)
}

const until = (iso: string, words = ' until '): string => (iso === '' ? '' : `${words}${inFull(iso)}`)

const titleOf = (code: string): string =>
  code === '' ? '' : `: ${Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].title : code}`

/** What somebody does, and has done. Empty after the words: the action names no host. */
const DEEDS: Record<AuditLine['action'], readonly [toDo: string, done: string, weight: number]> = {
  plan: ['plan ', 'planned ', 1],
  token: ['get the right to act on ', 'got the right to act on ', 0],
  apply: ['apply ', 'applied ', 3],
  adopt: ['adopt ', 'adopted ', 3],
  update: ['change ', 'changed ', 3],
  remove: ['remove ', 'removed ', 3],
  extend: ['extend ', 'extended ', 3],
  renew: ['renew the certificate of ', 'renewed the certificate of ', 3],
  repair: ['repair ', 'repaired ', 3],
  accept: ['accept ', 'accepted what stands at ', 3],
  mute: ['mute ', 'muted ', 3],
  unmute: ['end the mute of ', 'ended the mute of ', 3],
  release: ['release ', 'released ', 3],
  converge: ['bring an edge into step', 'brought an edge into step', 2],
  expire: ['remove at its time ', 'removed at its time ', 3],
  recover: ['finish an interrupted run of ', 'finished an interrupted run of ', 3],
  resolve: ['resolve the blocked run of ', 'resolved the blocked run of ', 5],
  backup: ['make a backup', 'made a backup', 3],
  restore: ['restore the store', 'restored the store', 3],
  rebuild: ['rebuild the store', 'rebuilt the store', 3],
  request: ['make a request', 'made a request', 1],
  refusals: ['make more requests', 'made more requests that were refused', 1],
  prune: ['remove old lines of the audit', 'removed old lines of the audit', 1],
}

const ACTORS: Readonly<Record<string, string>> = { drawbridge: 'Drawbridge', console: 'Somebody on the server' }

export function ofAudit({ action, actor, outcome, code = '' }: AuditLine): Sentence {
  const [toDo, done, weight] = DEEDS[action] ?? [`${action} `, `did ${action} `, 1]
  const who = ACTORS[actor] ?? actor
  switch (outcome) {
    case 'ok':
      return about(`${who} ${done}`, '', weight)
    case 'refused':
      return about(`${who} was refused to ${toDo}`, titleOf(code), Math.max(2, weight), 'warning')
    case 'blocked':
      return about(`${who} could not ${toDo}`, ', and the rollback failed', 5, 'bad')
    default:
      return about(`${who} could not ${toDo}`, outcome === 'rolled_back' ? ': it was rolled back' : '', 4, 'bad')
  }
}
