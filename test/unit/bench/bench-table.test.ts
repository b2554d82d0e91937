import { expect, test } from 'vitest'
import { resultsPage } from '../../../bench/results-page.ts'
import { firstTable, format, meetsTarget, note, pageTable, plainTable, row } from '../../../bench/table.ts'

test('a figure has as many digits as it needs', () => {
  expect([0.034, 12.345, 1_463.4].map((value) => format(value, 'ms'))).toEqual(['0.03 ms', '12.3 ms', '1,463 ms'])
  expect([format(1_234_567, 'count'), format(8_279.4, '/s')]).toEqual(['1,234,567', '8,279/s'])
  expect(format(0.954, '×')).toBe('0.95 ×')
})

test('a target is judged by the median', () => {
  expect(meetsTarget(row('x', 'ms', [1, 2, 90], { most: 2 }))).toBe(true)
  expect(meetsTarget(row('x', 'ms', [1, 3, 90], { most: 2 }))).toBe(false)
  expect(meetsTarget(row('x', '×', 0.94, { least: 0.95 }))).toBe(false)
  expect(meetsTarget(row('x', 'ms', 1))).toBeUndefined()
})

test('a target without a figure is not met', () => {
  expect(meetsTarget(row('x', 'ms', [], { most: 2 }))).toBe(false)
  expect(meetsTarget(row('x', '×', Number.NaN, { most: 2 }))).toBe(false)
})

const results = [
  {
    part: 'apply',
    seconds: 2,
    rows: [
      row('one apply', 'ms', [90, 100, 130]),
      row('10 hosts: one apply', 'ms', [90, 100, 130], { most: 200 }),
      row('10 hosts: step dns', 'ms', [9, 10, 13]),
      row('10 hosts: apply : bare', '×', 1.2, { most: 1 }),
    ],
  },
  { part: 'serve', seconds: 1, rows: [note('Caddy', 'not measured: caddy is not installed')], failure: 'It ended.' },
]

test('the page has a line for every target, note and failure, below titles', () =>
  expect(pageTable(results).split('\n')).toEqual([
    'measure           p50                                   p90     target          met',
    'apply',
    '  10 hosts',
    '    one apply     100 ms                                130 ms  at most 200 ms  yes',
    '    apply : bare  1.20 ×                                        at most 1.00 ×  NO',
    'serve',
    '  Caddy           not measured: caddy is not installed',
    '  FAILED          It ended.',
  ]))

test('the columns of the printed table stand below each other', () => {
  const [head = '', first = '', , third = '', fourth = ''] = plainTable(results).split('\n')
  const columns = [first.indexOf('100 ms'), third.indexOf('10.0 ms'), fourth.indexOf('1.20 ×')]
  expect(columns).toEqual(columns.map(() => head.indexOf('p50')))
})

test('the page names versions, date and time', () => {
  const page = resultsPage(results, ['Node 24.0.0', '2 CPUs'], new Date('2026-01-02T03:04:05Z'))
  expect(page).toContain('Measured on 2026-01-02 in 1 minutes (apply 2 s, serve 1 s):')
  expect(page).toContain('- Node 24.0.0\n- 2 CPUs\n')
  expect(page).toContain(pageTable(results))
})

test('the first page has the figures of earlier versions beside those of this run', () => {
  const rows = [row('one apply', 'ms', [90, 100, 130]), row('one remove', 'ms', 110), row('one apply : bare', '×', 0.9)]
  expect(firstTable(rows, [{ commit: 'fdf3c85', figures: { 'one apply': 113 } }]).split('\n')).toEqual([
    'measure     now     fdf3c85',
    'one apply   100 ms  113 ms',
    'one remove  110 ms',
  ])
})
