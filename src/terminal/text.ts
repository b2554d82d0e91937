/** Breaks a text at spaces so that lines fit in `width`. A longer word stays whole, so that it can be copied. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of escapeText(text).split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** `head` with the text beside it; further lines are indented to the text. `headWidth` counts the visible characters of `head`. */
export function hanging(head: string, headWidth: number, text: string, columns: number): string[] {
  const indent = ' '.repeat(headWidth)
  return wrap(text, columns - headWidth).map((line, index) => (index === 0 ? head : indent) + line)
}

/** At most `width` characters, with an ellipsis where text was cut off. */
const clip = (text: string, width: number): string =>
  text.length <= width ? escapeText(text) : `${escapeText(text).slice(0, Math.max(0, width - 1))}…`

/** Replaces control characters: text from other people must not control the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const escapeText = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '�')

/** One `[name, text]` pair per line, the texts in one column. */
export function pairs(rows: readonly (readonly [name: string, text: string])[], columns: number): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return rows.flatMap(([name, text]) => hanging(name.padEnd(width), width, text, columns))
}

/** One column. `paint` gets the padded text, so that colour codes do not change the width. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  readonly align?: 'right'
  /** Gets the width that the other columns leave, and is clipped to it. */
  readonly flexible?: true
  readonly paint?: (padded: string, row: Row) => string
  /** Left out where the screen is too narrow for all columns: the highest number first. Without it, always shown. */
  readonly drop?: number
}

const GAP = 2
const NARROWEST = 12

/**
 * Titles and rows. No line is wider than `width`: columns that can be left out are left out, and where the others do not fit
 * either, each row becomes a block of lines.
 */
export function table<Row>(all: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  let columns = all
  while (leastWidth(columns, rows) > width) {
    const last = columns.reduce((most, { drop = 0 }) => Math.max(most, drop), 0)
    if (last === 0) return blocks(all, rows, width)
    columns = columns.filter(({ drop = 0 }) => drop !== last)
  }
  const cells = rows.map((row) => columns.map((column) => column.text(row)))
  const widest = widthsOf(columns, rows)
  const fixed = widest.reduce((sum, one, at) => sum + GAP + (columns[at]?.flexible ? 0 : one), -GAP)
  const widths = widest.map((one, at) =>
    columns[at]?.flexible ? Math.max(NARROWEST, Math.min(one, width - fixed)) : one,
  )
  const line = (texts: readonly string[], paint: (column: Column<Row>, padded: string) => string) =>
    columns
      .map((column, at) => paint(column, fit(texts[at] ?? '', widths[at] ?? 0, column.align)))
      .join(' '.repeat(GAP))
      .trimEnd()
  return [
    line(
      columns.map(({ title }) => title),
      (_, padded) => padded,
    ),
    ...rows.map((row, index) => line(cells[index] ?? [], ({ paint }, padded) => paint?.(padded, row) ?? padded)),
  ]
}

const widthsOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): number[] =>
  columns.map(({ title, text }) => rows.reduce((most, row) => Math.max(most, text(row).length), title.length))

/** The width with the flexible column as narrow as it may be. */
const leastWidth = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): number =>
  widthsOf(columns, rows).reduce(
    (sum, one, at) => sum + GAP + (columns[at]?.flexible ? Math.min(one, NARROWEST) : one),
    -GAP,
  )

function blocks<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...pairs(
      columns.map(({ title, text }) => [title.replace(/ .*/, ''), text(row)]),
      width,
    ),
  ])
}

function fit(text: string, width: number, align: 'right' | undefined): string {
  const clipped = clip(text, width)
  return align === 'right' ? clipped.padStart(width) : clipped.padEnd(width)
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration in its largest whole unit: `45s`, `12m`, `3h`, `9d`. */
export function span(ms: number): string {
  const length = Math.max(0, ms)
  if (length < MINUTE) return `${Math.floor(length / 1000)}s`
  if (length < HOUR) return `${Math.floor(length / MINUTE)}m`
  if (length < 2 * DAY) return `${Math.floor(length / HOUR)}h`
  return `${Math.floor(length / DAY)}d`
}

/** A duration that is left, rounded up: what was given as 2 hours is told as 2 hours a moment later. */
export function spanLeft(ms: number): string {
  const length = Math.max(0, ms)
  if (length <= 2 * MINUTE) return `${Math.ceil(length / 1000)}s`
  if (length < 2 * HOUR - MINUTE) return `${Math.ceil(length / MINUTE)}m`
  if (length <= 2 * DAY) return `${Math.ceil(length / HOUR)}h`
  return `${Math.ceil(length / DAY)}d`
}

/** `2026-01-31 12:00:00`, in UTC. */
export const moment = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

/** The same without year and seconds, for narrow tables. */
export const shortMoment = (iso: string): string => moment(iso).slice(5, 16)

/** A time, and the duration from now to it. */
export function until(iso: string, now: number): string {
  const left = Date.parse(iso) - now
  return `${moment(iso)} UTC (${left >= 0 ? `in ${spanLeft(left)}` : `${span(-left)} ago`})`
}
