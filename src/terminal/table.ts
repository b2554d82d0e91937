import { clip } from './text.ts'

/** One column. `paint` sees the text padded, so that colour never moves a column. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  readonly align?: 'right'
  /** Takes what the others leave, and is clipped when that is too little. */
  readonly flexible?: true
  readonly paint?: (padded: string, row: Row) => string
}

const GAP = 2
const NARROWEST = 12

/** Rows below their titles. No line is wider than `columns`. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const cells = rows.map((row) => columns.map((column) => column.text(row)))
  const widest = columns.map(({ title }, at) =>
    cells.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), title.length),
  )
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

function fit(text: string, width: number, align: 'right' | undefined): string {
  const clipped = clip(text, width)
  return align === 'right' ? clipped.padStart(width) : clipped.padEnd(width)
}
