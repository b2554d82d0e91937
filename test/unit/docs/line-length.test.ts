import { expect, test } from 'vitest'
import { pages } from './pages.ts'

const LONGEST_LINE = 160

test('no line of a document is longer than 160 characters', () => {
  const long = pages().flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (line.length > LONGEST_LINE ? [`${path}:${index + 1}`] : [])),
  )
  expect(long).toEqual([])
})
