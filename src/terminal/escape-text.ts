import { type Screen, screenOn } from './screen.ts'

/** What a command has to tell: to a script, and to a person. */
export interface Told {
  readonly body: unknown
  readonly lines: (screen: Screen) => readonly string[]
  /** 0 where it is not given. */
  readonly exitCode?: number
}

export const standardOutput = (): Screen => screenOn(process.stdout, process.env)

/** One JSON document, or lines for people. */
export function tell({ body, lines, exitCode }: Told, json: boolean | undefined): void {
  const screen = standardOutput()
  if (json) screen.say(JSON.stringify(body, null, 2))
  else screen.say(...lines(screen))
  if (exitCode !== undefined) process.exitCode = exitCode
}
