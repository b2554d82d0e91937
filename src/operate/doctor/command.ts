import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/document.ts'
import type { Output } from '../../terminal/print.ts'
import type { Screen, Tone } from '../../terminal/screen.ts'
import { hanging } from '../../terminal/text.ts'
import { configIn } from '../open-config.ts'
import { type DoctorParts, examine, repair } from './doctor.ts'
import { type Finding, fault, ok } from './finding.ts'

/** Checks the installation. With `fix`, applies the safe fixes and checks again. */
export async function doctor(
  file: string,
  fix: boolean,
  parts: (config: Config) => DoctorParts | Promise<DoctorParts>,
): Promise<Output> {
  const config = await configOrFindings(file)
  if (Array.isArray(config)) return output(config, [])
  const readable = ok('configuration', `${file} is valid.`)
  const check = async () => [readable, ...(await examine(await parts(config)))]
  const found = await check()
  if (!fix) return output(found, [])
  const done = repair(found)
  return output(done.length > 0 ? await check() : found, done)
}

const output = (findings: readonly Finding[], done: readonly string[]): Output => ({
  body: doctorBody(findings, done),
  lines: (screen) => [...done, ...doctorLines(findings, screen)],
  exitCode: isSound(findings) ? 0 : 1,
})

/** If the file is not valid, its faults are the only findings, because every other check needs the configuration. */
async function configOrFindings(file: string): Promise<Config | Finding[]> {
  try {
    return await configIn(file)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const fix = 'Correct the setting. drawbridge.example.yaml shows every setting.'
    return error.message.split('\n').map((sentence) => fault('configuration', sentence, fix))
  }
}

const WORDS: Readonly<Record<Finding['status'], { readonly word: string; readonly tone: Tone }>> = {
  ok: { word: 'ok', tone: 'good' },
  warning: { word: 'warning', tone: 'careful' },
  fault: { word: 'FAULT', tone: 'bad' },
}

/** One line per finding, with its fix below it. */
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
  if (faults + warnings === 0) return `All ${findings.length} checks passed.`
  return `${findings.length} checks: ${plural(faults, 'fault')}, ${plural(warnings, 'warning')}.`
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The JSON output. */
const doctorBody = (findings: readonly Finding[], done: readonly string[]) => ({
  ok: isSound(findings),
  findings: findings.map(({ subject, status, sentence, fix }) => ({ subject, status, sentence, fix: fix ?? null })),
  done,
})

const isSound = (findings: readonly Finding[]): boolean => findings.every(({ status }) => status !== 'fault')
