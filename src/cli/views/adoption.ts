import type { Screen } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import { type CheckView, type PlanView, planLines } from './plan.ts'

/** A directive of a hand-written site. File and line are known only on the machine of the edge. */
export interface FindingView {
  readonly directive: string
  readonly sentence: string
  readonly file?: string | undefined
  readonly line?: number | undefined
}

/** `access_log, /etc/nginx/sites-enabled/shop:6: …`, or without the place. */
export function findingText({ directive, sentence, file, line }: FindingView): string {
  const place = file === undefined ? '' : `, ${file}${line ? `:${line}` : ''}`
  return `${directive}${place}: ${sentence}`
}

/** The findings with the places that this machine has for them. What the files do not have any more keeps its name alone. */
export function locate(findings: readonly FindingView[], here: readonly FindingView[]): FindingView[] {
  const left = [...here]
  return findings.map((finding) => {
    const at = left.findIndex(
      ({ directive, sentence }) => directive === finding.directive && sentence === finding.sentence,
    )
    const [found] = at < 0 ? [] : left.splice(at, 1)
    return found ?? finding
  })
}

interface AdoptionCheck extends CheckView {
  readonly by?: string
  readonly carried?: number
  readonly lost?: readonly FindingView[]
  readonly changed?: readonly FindingView[]
}

/** A plan that adopts a site, with what becomes of the directives of the site. */
export function adoptionLines(plan: PlanView, here: readonly FindingView[], screen: Screen, now: number): string[] {
  const checks: readonly AdoptionCheck[] = plan.checks
  const { carried = 0, lost = [], changed = [] } = checks.find(({ name, by }) => name === 'proxy' && by) ?? {}
  const listed = (title: string, findings: readonly FindingView[]) =>
    findings.length === 0
      ? []
      : ['', title, ...locate(findings, here).flatMap((each) => hanging('  ', 4, findingText(each), screen.columns))]
  const count = carried === 1 ? '1 directive of the site is' : `${carried} directives of the site are`
  return [
    ...planLines(plan, screen, now),
    '',
    `${count} carried over.`,
    ...listed('Different afterwards', changed),
    ...listed('Cannot be carried over, and is lost', lost),
  ]
}
