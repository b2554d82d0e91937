/** The meaning of a text. Colour is never the only carrier of a meaning: a screen without colour shows the bare text. */
export type Tone = 'good' | 'careful' | 'bad' | 'dim' | 'strong'

const CODES: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  careful: [33, 39],
  bad: [31, 39],
  dim: [2, 22],
  strong: [1, 22],
}

const HOME_AND_CLEAR = '\u001b[H\u001b[2J'
const ERASE_LINE = '\r\u001b[K'

/** What `paint` writes. No other sequence reaches a terminal. */
const PAINT = `\u001b\\[(?:${[...new Set(Object.values(CODES).flat())].join('|')})m`
/** Control and format characters, bidirectional ones included: they move the cursor, hide text or show it in another order. */
const UNPRINTABLE = '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]'

/**
 * Text of others reaches the screen: of DNS, nginx, backends and edge agents. What a terminal would obey is written as an escape, as in
 * JSON, so that a printed document stays one.
 */
const printable = (text: string, colours: boolean): string =>
  text.replaceAll(new RegExp(colours ? `${PAINT}|${UNPRINTABLE}` : UNPRINTABLE, 'gu'), (found) =>
    found === '\n' || found === '\t' || found.endsWith('m') ? found : codeUnits(found),
  )

/** The same without colours. */
export const printableText = (text: string): string => printable(text, false)

const codeUnits = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** Where a command writes. */
export interface Screen {
  /** Infinite for a file or a pipe, so that lines are not broken there. */
  readonly columns: number
  readonly isTerminal: boolean
  /** Tables show every column that they have. */
  readonly isWide?: boolean
  paint(tone: Tone, text: string): string
  /** One line for each text. A text may have several lines, as a document has. */
  print(...lines: readonly string[]): void
  /** The lines alone, on a terminal that is cleared first. */
  redraw(...lines: readonly string[]): void
  /**
   * Shows one line below the printed lines, in place of the one shown before; an empty text erases it. Does nothing
   * without a terminal that can erase a line. The line must be shorter than the screen is wide.
   */
  showProgress(line: string): void
}

type Environment = Readonly<Record<string, string | undefined>>

/** Colour is used only on a terminal that supports it, and never when NO_COLOR is set. */
export function screenOn(stream: NodeJS.WriteStream, environment: Environment): Screen {
  const isTerminal = stream.isTTY === true
  const isSmart = isTerminal && environment.TERM !== 'dumb'
  const colours = isSmart && !environment.NO_COLOR
  let progress = ''
  const textOf = (lines: readonly string[]) => lines.map((line) => `${printable(line, colours)}\n`).join('')
  return {
    columns: isTerminal ? Math.max(stream.columns || 80, 40) : Number.POSITIVE_INFINITY,
    isTerminal,
    paint(tone, text) {
      const [on, off] = CODES[tone]
      return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text
    },
    print(...lines) {
      const erased = progress === '' ? '' : ERASE_LINE
      progress = ''
      stream.write(erased + textOf(lines))
    },
    redraw(...lines) {
      progress = ''
      stream.write(HOME_AND_CLEAR + textOf(lines))
    },
    showProgress(line) {
      if (!isSmart || line === progress) return
      progress = line
      stream.write(ERASE_LINE + printable(line, colours))
    },
  }
}
