import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

interface LogCall {
  readonly place: string
  readonly event: string | undefined
  readonly levels: readonly string[]
}

/** `log.warn(`, `request.log.error(`, `this.#log.info(`, `log[isFailure ? 'warn' : 'info'](`, and what follows. */
const LOG_CALL = /\blog\??(?:\.(info|warn|error|debug|fatal|trace)|\[([^\]]*)\])\(\s*(\{\s*event: '([a-z0-9_]+)')?/g

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('src', file))

const calls: LogCall[] = sources.flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(LOG_CALL)].map(({ index, 1: level, 2: computed = '', 4: event }) => ({
    place: `${file}:${text.slice(0, index).split('\n').length}`,
    event,
    levels: level ? [level] : [...computed.matchAll(/'([a-z]+)'/g)].map(([, name = '']) => name),
  }))
})

/** Event -> levels, as the page has them. */
const documented = new Map(
  [...readFileSync('docs/logs.md', 'utf8').matchAll(/^\| `([a-z0-9_]+)` \| ([a-z, ]+) \|/gm)].map(
    ([, event = '', levels = '']) => [event, levels.split(', ').toSorted()],
  ),
)

const inSource = Map.groupBy(
  calls.filter(({ event }) => event !== undefined),
  ({ event }) => event ?? '',
)

describe('docs/logs.md and the log calls of src/', () => {
  test('every log call begins with a stable event key', () => {
    expect(calls.length).toBeGreaterThan(40)
    expect(calls.filter(({ event }) => event === undefined).map(({ place }) => place)).toEqual([])
  })

  test('have the same events', () => expect([...documented.keys()].toSorted()).toEqual([...inSource.keys()].toSorted()))

  test('every event above info has its meaning and what to do', () => {
    const rows = [...readFileSync('docs/logs.md', 'utf8').matchAll(/^\| `[a-z0-9_]+` \| (?!info \|).*$/gm)].map(
      ([row]) => row,
    )
    expect(rows.length).toBeGreaterThan(40)
    expect(rows.filter((row) => row.split(' | ').filter((cell) => cell.trim() !== '').length !== 4)).toEqual([])
  })

  test.each([...inSource])('agree on the level of %s', (event, sites) =>
    expect(documented.get(event)).toEqual([...new Set(sites.flatMap(({ levels }) => levels))].toSorted()),
  )
})
