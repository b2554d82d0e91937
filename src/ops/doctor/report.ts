import type { Screen, Tone } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import type { Finding } from './finding.ts'

const WORDS: Readonly<Record<Finding['status'], { readonly word: string; readonly tone: Tone }>> = {
  ok: { word: 'ok', tone: 'good' },
  warning: { word: 'warning', tone: 'careful' },
  fault: { word: 'FAULT', tone: 'bad' },
}

/** Each finding a line, and its fix below it. */
export function doctorLines(findings: readonly Finding[], screen: Screen): string[] {
  const widest = Math.max(...findings.map(({ subject }) => subject.length))
  const lines = findings.flatMap(({ status, subject, sentence, fix }) => {
    const { word, tone } = WORDS[status]
    const head = `${screen.paint(tone, word.padEnd(9))}${subject.padEnd(widest + 2)}`
    const width = 9 + widest + 2
    const advice = fix === undefined ? [] : hanging(' '.repeat(width), width, `Fix: ${fix}`, screen.columns)
    return [...hanging(head, width, sentence, screen.columns), ...advice]
  })
  return [...lines, '', summary(findings)]
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length
  const [faults, warnings] = [count('fault'), count('warning')]
  if (faults + warnings === 0) return `All ${findings.length} checks are well.`
  return `${findings.length} checks: ${plural(faults, 'fault')}, ${plural(warnings, 'warning')}.`
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The same for a script. */
export const doctorBody = (findings: readonly Finding[], done: readonly string[]) => ({
  ok: isWell(findings),
  findings: findings.map(({ subject, status, sentence, fix }) => ({ subject, status, sentence, fix: fix ?? null })),
  done,
})

export const isWell = (findings: readonly Finding[]): boolean => findings.every(({ status }) => status !== 'fault')
