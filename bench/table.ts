import { summarize } from './measure.ts'

export type Unit = 'ms' | 's' | '×' | 'MB' | 'kB' | '/s' | '%' | 'count'

/** One line of the table. One value is a figure; several are samples, shown with their spread. */
export interface Row {
  readonly measure: string
  readonly unit: Unit
  readonly values: readonly number[]
  /** The median must be at most or at least this. */
  readonly target?: Target | undefined
  /** Stands in place of the figures, such as the reason why there are none. */
  readonly note?: string
}

export interface Target {
  readonly most?: number
  readonly least?: number
}

export interface PartResult {
  readonly part: string
  readonly seconds: number
  readonly rows: readonly Row[]
  /** Why the part ended early. */
  readonly failure?: string
}

export const row = (measure: string, unit: Unit, values: number | readonly number[], target?: Target): Row => ({
  measure,
  unit,
  values: typeof values === 'number' ? [values] : values,
  target,
})

export const note = (measure: string, text: string): Row => ({ measure, unit: 'count', values: [], note: text })

/** Undefined for a row without a target. A row that has a target and no figure does not meet it. */
export function meetsTarget({ values, target }: Row): boolean | undefined {
  if (!target) return undefined
  const { p50 } = summarize(values)
  return p50 <= (target.most ?? Number.POSITIVE_INFINITY) && p50 >= (target.least ?? Number.NEGATIVE_INFINITY)
}

const HEAD = ['measure', 'p50', 'p90', 'min .. max', 'samples', 'target', 'met']

export function plainTable(results: readonly PartResult[]): string {
  const lines = [
    ['part', ...HEAD],
    ...results.flatMap((result) => linesOf(result).map((cells) => [result.part, ...cells])),
  ]
  const widths = ['part', ...HEAD].map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)))
  const padded = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0))
  return lines.map((cells) => padded(cells).join('  ').trimEnd()).join('\n')
}

/** What the page has of a line. Its rows stand below titles, because the lines of a document are short. */
const PAGE_HEAD = ['measure', 'p50', 'p90', 'target', 'met']

/** The table of the page: what has a target, or a note in place of figures. `10 hosts: refused` stands as `refused` below the title `10 hosts`. */
export function pageTable(results: readonly PartResult[]): string {
  const lines = [
    PAGE_HEAD,
    ...results.flatMap((result) => [
      [result.part],
      ...underTitles(linesOf({ ...result, rows: result.rows.filter(({ target, note: text }) => target ?? text) })),
    ]),
  ]
  const width = (column: number) =>
    Math.max(...lines.map((cells) => (cells.length > 1 ? (cells[column]?.length ?? 0) : 0)))
  const widths = PAGE_HEAD.map((_, column) => width(column))
  return lines
    .map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export interface Earlier {
  readonly commit: string
  readonly figures: Readonly<Record<string, number | undefined>>
}

/** The first page: what was measured in milliseconds, beside what earlier versions took. */
export function firstTable(rows: readonly Row[], earlier: readonly Earlier[]): string {
  const lines = [
    ['measure', 'now', ...earlier.map(({ commit }) => commit)],
    ...rows
      .filter(({ unit, values }) => unit === 'ms' && values.length > 0)
      .map(({ measure, values }) => [
        measure,
        format(summarize(values).p50, 'ms'),
        ...earlier.map(({ figures }) => (figures[measure] === undefined ? '' : format(figures[measure], 'ms'))),
      ]),
  ]
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)))
  return lines
    .map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function underTitles(lines: readonly string[][]): string[][] {
  let title = ''
  return lines.flatMap(([measure = '', p50 = '', p90 = '', , , target = '', met = '']) => {
    const [, about = '', rest = measure] = /^(.+?(?<! )): (.+)$/.exec(measure) ?? []
    const isNew = about !== title && about !== ''
    title = about
    return [...(isNew ? [[`  ${about}`]] : []), [`${about === '' ? '  ' : '    '}${rest}`, p50, p90, target, met]]
  })
}

const linesOf = ({ rows, failure }: PartResult): string[][] =>
  [...rows, ...(failure === undefined ? [] : [note('FAILED', failure.slice(0, MOST_OF_A_FAILURE))])].map((each) => [
    each.measure,
    ...figures(each),
  ])

const MOST_OF_A_FAILURE = 120

function figures({ unit, values, note: text, ...judged }: Row): string[] {
  const met = meetsTarget({ unit, values, ...judged })
  const last = [targetText(judged.target, unit), met === undefined ? '' : met ? 'yes' : 'NO']
  if (values.length === 0) return [text ?? 'no figure', '', '', '', ...last]
  const { count, p50, p90, min, max } = summarize(values)
  if (count === 1) return [format(p50, unit), '', '', '', ...last]
  return [format(p50, unit), format(p90, unit), `${format(min, unit)} .. ${format(max, unit)}`, String(count), ...last]
}

function targetText(target: Target | undefined, unit: Unit): string {
  if (!target) return ''
  const { most, least } = target
  return most === undefined ? `at least ${format(least ?? 0, unit)}` : `at most ${format(most, unit)}`
}

/** Three significant digits for small figures, whole numbers for large ones. */
export function format(value: number, unit: Unit): string {
  const digits = unit === 'count' || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const text = value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d)(?<!\.\d*))/g, ',')
  if (unit === 'count') return text
  return unit === '/s' ? `${text}/s` : `${text} ${unit}`
}
