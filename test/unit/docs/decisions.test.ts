import { describe, expect, test } from 'vitest'
import { pages } from './pages.ts'

const records = pages().filter(({ path }) => path.startsWith('docs/decisions/'))

describe.each(records)('$path', ({ text }) => {
  test('has a date, a status and the four parts, in this order', () => {
    expect(text).toMatch(/^# .+\n\nDate: 20\d\d-\d\d-\d\d\. Status: (accepted|superseded on 20\d\d-\d\d-\d\d by \[)/)
    const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
    expect(parts).toEqual(['Context', 'Decision', 'Alternatives considered', 'Consequences'])
  })
})
