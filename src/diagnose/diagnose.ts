import { type Badge, badgeOf } from '../model/badge.ts'
import { escapeText } from '../model/escape-text.ts'
import type { Evidence, FileState, Listen } from '../model/evidence.ts'
import { type Act, actsFor, adviceOn, heldAdvice } from './acts.ts'
import { type Audience, maySee, serverAt, type Words, wordsFor } from './audience.ts'
import { CAUSES, type CauseCode, type CauseTexts } from './causes.ts'
import { chainOf, type Link } from './chain.ts'
import { type CauseLevel, causeOf, factsAfter, levelOf } from './rules.ts'

/** The interpretation of an inspection, for one audience. */
export interface Diagnosis {
  readonly host: string
  /** The badge after this inspection, with the monitor's facts where the inspection has none. */
  readonly badge: Badge
  readonly managed: boolean
  /** The plan of a managed host, for internal callers. */
  readonly planId?: string
  readonly configPath: string | null
  readonly configLine: number | null
  readonly listen: readonly (Omit<Listen, 'address'> & { readonly address: string | null })[]
  readonly proxyPass: string | null
  /** The id of the target server, or its address if it has no id. */
  readonly server: string | null
  readonly file: FileState
  readonly chain: readonly Link[]
  readonly cause: Cause
  readonly checkedAt: number
  readonly tookMs: number
}

interface Cause {
  readonly code: CauseCode
  readonly level: CauseLevel
  readonly sentence: string
  readonly advice: string
  /** What Drawbridge can do about it. Empty for public callers, who may do nothing of it. */
  readonly acts: readonly Act[]
}

export function diagnose(inspected: Evidence, audience: Audience): Diagnosis {
  const evidence = audience.network === 'internal' ? inspected : withoutBlock(inspected)
  const { host, managed, exposure, file, configuration, target, at, tookMs } = evidence
  const words = wordsFor(evidence, audience)
  const machine = target.address ?? target.target?.host ?? null
  const badge = badgeOf(factsAfter(evidence))
  const isShown = machine === null ? audience.network === 'internal' : maySee(machine, audience)
  return {
    host,
    badge,
    managed,
    ...(exposure && audience.network === 'internal' && { planId: exposure.planId }),
    configPath: configuration.own && escapeText(configuration.own.path),
    configLine: audience.network === 'internal' ? (configuration.own?.line ?? null) : null,
    listen: configuration.listen.map((place) => ({ ...place, address: shownListen(place.address, audience) })),
    proxyPass: isShown && target.proxyPass !== null ? escapeText(target.proxyPass) : null,
    server: isShown && machine !== null ? (serverAt(machine, audience) ?? escapeText(machine)) : null,
    file,
    chain: chainOf(evidence, words),
    cause: causeFor(evidence, badge, words, audience),
    checkedAt: at,
    tookMs,
  }
}

/** The status of a host does not tell the public that a run is blocked, so the public hears the cause that visitors notice. */
const withoutBlock = ({ exposure, ...evidence }: Evidence): Evidence => ({
  ...evidence,
  exposure: exposure?.state === 'blocked' ? { ...exposure, state: 'applied' } : exposure,
})

function causeFor(evidence: Evidence, badge: Badge, words: Words, { network }: Audience): Cause {
  const code = causeOf(evidence)
  const { sentence, advice, remedy }: CauseTexts = CAUSES[code]
  const acts = actsFor(remedy, evidence)
  return {
    code,
    level: levelOf(code, badge),
    sentence: sentence(evidence, words),
    advice: heldAdvice(remedy, evidence) ?? adviceOn(acts, words) ?? advice(evidence, words),
    acts: network === 'internal' ? acts : [],
  }
}

const shownListen = (address: string, audience: Audience): string | null =>
  EVERYWHERE.includes(address) || maySee(address, audience) ? escapeText(address) : null

const EVERYWHERE = ['*', '[::]']
