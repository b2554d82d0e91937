/** What a piece of text means. A screen without colour shows the bare text: nothing is told by colour alone. */
export type Tone = 'good' | 'careful' | 'bad' | 'dim' | 'strong'

const CODES: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  careful: [33, 39],
  bad: [31, 39],
  dim: [2, 22],
  strong: [1, 22],
}

/** Where a command writes. */
export interface Screen {
  /** Endless where nobody looks: a file or a pipe gets whole lines. */
  readonly columns: number
  readonly isTerminal: boolean
  paint(tone: Tone, text: string): string
  say(...lines: readonly string[]): void
}

type Environment = Readonly<Record<string, string | undefined>>

/** Colour only on a terminal that knows it, and never against NO_COLOR. */
export function screenOn(stream: NodeJS.WriteStream, environment: Environment): Screen {
  const isTerminal = stream.isTTY === true
  const colours = isTerminal && !environment.NO_COLOR && environment.TERM !== 'dumb'
  return {
    columns: isTerminal ? Math.max(stream.columns || 80, 40) : Number.POSITIVE_INFINITY,
    isTerminal,
    paint(tone, text) {
      const [on, off] = CODES[tone]
      return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text
    },
    say: (...lines) => void stream.write(lines.map((line) => `${line}\n`).join('')),
  }
}
