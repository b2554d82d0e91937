import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Plan } from '../../model/exposure.ts'
import { idInMark, recordsOf } from '../../model/receipt.ts'
import { Slots } from '../../primitives/slots.ts'
import type { Books } from './books.ts'
import { broken, type Evidence, unknown, type VerifyParts } from './evidence.ts'

const AT_ONCE = 8

/** Owner marks of plans that have ended, and files that were never moved to their place. */
export async function verifyNames(
  books: Books,
  { verification, clock }: Pick<VerifyParts, 'verification' | 'clock'>,
): Promise<Evidence[]> {
  const slots = new Slots(AT_ONCE)
  const ended = books.plans.filter(({ host }) => !books.exposures.has(host) && !books.underWay.has(host))
  // The mark of an exposure survives the plans that replace each other.
  const byMark = new Map(ended.map((plan) => [`${plan.host} ${plan.exposureId}`, plan]))
  const marks = [...byMark.values()].map((plan) => slots.run(() => verifyMark(plan, verification)))
  return [...(await Promise.all(marks)).flat(), ...verifyFiles(verification, clock.now())]
}

/** The id of a mark is random: where it stands, this installation has written it. */
async function verifyMark(plan: Plan, { holds }: VerifyParts['verification']): Promise<Evidence[]> {
  const mark = recordsOf(plan, undefined).filter(({ type, value }) => type === 'TXT' && idInMark(value) !== undefined)
  if (mark.length === 0) return []
  try {
    const held = await holds(plan.request.zone, mark)
    if (held === 'unknown') throw new Error('The DNS server gave no certain answer.')
    return held === 'yes'
      ? [broken('names', `The owner mark of ${plan.host} (${plan.planId}, ${plan.state}) stands without an exposure.`)]
      : []
  } catch (error) {
    return [unknown('names', `The owner mark of ${plan.host}`, error)]
  }
}

/** The longest time between a file and its rename. */
const WRITTEN_MS = 60_000

/** What is written beside its place and then moved there. */
const UNFINISHED = /\.(?:new|tmp|draft)$/

function verifyFiles({ stateDir }: VerifyParts['verification'], now: number): Evidence[] {
  const names = readdirSync(stateDir, { recursive: true, encoding: 'utf8' })
  const left = names.filter((name) => UNFINISHED.test(name) && now - writtenAt(join(stateDir, name)) > WRITTEN_MS)
  return left.map((name) => broken('clean', `The file ${name} of the state folder was never moved to its place.`))
}

/** A file that was moved meanwhile is finished. */
const writtenAt = (path: string): number =>
  lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
