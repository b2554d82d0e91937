import { type Config, loadConfig } from '../../config/config.ts'
import { ConfigError } from '../../config/document.ts'
import type { Output } from '../../terminal/print.ts'
import type { Screen, Tone } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import { type DoctorParts, examine, repair } from './doctor.ts'
import { type Finding, fault, ok } from './finding.ts'

/** Looks; with `fix` does what is safe and looks again. */
export async function doctor(
  file: string,
  fix: boolean,
  parts: (config: Config) => DoctorParts | Promise<DoctorParts>,
): Promise<Output> {
  const config = configOrFindings(file)
  if (Array.isArray(config)) return told(config, [])
  const readable = ok('configuration', `${file} is right.`)
  const look = async (looked: DoctorParts) => [readable, ...(await examine(looked))]
  const found = await look(await parts(config))
  if (!fix) return told(found, [])
  const done = repair(found)
  return told(done.length > 0 ? await look(await parts(config)) : found, done)
}

const told = (findings: readonly Finding[], done: readonly string[]): Output => ({
  body: doctorBody(findings, done),
  lines: (screen) => [...done, ...doctorLines(findings, screen)],
  exitCode: isWell(findings) ? 0 : 1,
})

/** A file that cannot be read is the one finding: nothing else is known then. */
function configOrFindings(file: string): Config | Finding[] {
  try {
    return loadConfig(file, process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const fix = 'Correct it; drawbridge.example.yaml shows every setting.'
    return error.message.split('\n').map((sentence) => fault('configuration', `${sentence}.`, fix))
  }
}

const WORDS: Readonly<Record<Finding['status'], { readonly word: string; readonly tone: Tone }>> = {
  ok: { word: 'ok', tone: 'good' },
  warning: { word: 'warning', tone: 'careful' },
  fault: { word: 'FAULT', tone: 'bad' },
}

/** Each finding a line, and its fix below it. */
function doctorLines(findings: readonly Finding[], screen: Screen): string[] {
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
const doctorBody = (findings: readonly Finding[], done: readonly string[]) => ({
  ok: isWell(findings),
  findings: findings.map(({ subject, status, sentence, fix }) => ({ subject, status, sentence, fix: fix ?? null })),
  done,
})

const isWell = (findings: readonly Finding[]): boolean => findings.every(({ status }) => status !== 'fault')
