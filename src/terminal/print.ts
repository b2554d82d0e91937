import { type Screen, screenOn } from './screen.ts'

/** The result of a command: `body` for scripts, `lines` for people. */
export interface Output {
  readonly body: unknown
  readonly lines: (screen: Screen) => readonly string[]
  /** Default: 0. */
  readonly exitCode?: number
}

export const standardOutput = (): Screen => screenOn(process.stdout, process.env)

/** Prints one JSON document with `--json`, lines otherwise. */
export function print({ body, lines, exitCode }: Output, json: boolean | undefined): void {
  const screen = standardOutput()
  if (json) screen.print(JSON.stringify(body, null, 2))
  else screen.print(...lines(screen))
  if (exitCode !== undefined) process.exitCode = exitCode
}
