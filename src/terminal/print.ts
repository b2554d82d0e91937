import { type Screen, screenOn } from './screen.ts'

/** The result of a command: `body` for scripts, `lines` for people. */
export interface Output {
  readonly body: unknown
  readonly lines: (screen: Screen) => readonly string[]
  /** What `-o name` prints, one per line. */
  readonly names?: readonly string[]
  /** Default: 0. */
  readonly exitCode?: number
}

export const standardOutput = (): Screen => screenOn(process.stdout, process.env)

export const FORMATS = ['wide', 'name', 'json', 'yaml'] as const
export type Format = (typeof FORMATS)[number]

/** Prints in the chosen form: lines without a bound on their width, names, or one document. */
export async function printAs(output: Output, format: Format | undefined): Promise<void> {
  const { body, lines, names = [], exitCode } = output
  const screen = standardOutput()
  if (format === 'yaml') screen.print(...(await import('yaml')).stringify(body).trimEnd().split('\n'))
  else if (format === 'name') screen.print(...names)
  else if (format === 'wide') screen.print(...lines({ ...screen, columns: Number.POSITIVE_INFINITY, isWide: true }))
  else print({ body, lines }, format === 'json')
  if (exitCode !== undefined) process.exitCode = exitCode
}

/** Prints one JSON document with `--json`, lines otherwise. */
export function print({ body, lines, exitCode }: Output, json: boolean | undefined): void {
  const screen = standardOutput()
  if (json) screen.print(...JSON.stringify(body, null, 2).split('\n'))
  else screen.print(...lines(screen))
  if (exitCode !== undefined) process.exitCode = exitCode
}
