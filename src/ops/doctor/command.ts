import { type Config, loadConfig } from '../../config/config.ts'
import { ConfigError } from '../../config/document.ts'
import { doctorParts } from '../../doctor-parts.ts'
import type { Told } from '../../terminal/told.ts'
import { type DoctorParts, examine, repair } from './doctor.ts'
import { type Finding, fault, ok } from './finding.ts'
import { doctorBody, doctorLines, isWell } from './report.ts'

/** Looks; with `fix` does what is safe and looks again. */
export async function doctor(file: string, fix: boolean, parts = doctorParts): Promise<Told> {
  const config = configOrFindings(file)
  if (Array.isArray(config)) return told(config, [])
  const readable = ok('configuration', `${file} is right.`)
  const look = async (looked: DoctorParts) => [readable, ...(await examine(looked))]
  const found = await look(parts(config))
  if (!fix) return told(found, [])
  const done = repair(found)
  return told(done.length > 0 ? await look(parts(config)) : found, done)
}

const told = (findings: readonly Finding[], done: readonly string[]): Told => ({
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
