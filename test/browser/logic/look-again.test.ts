import { describe, expect, test } from 'vitest'
import { opened, watchBadge } from '../../../web/diagnosis/look-again.ts'

type Drawn = Parameters<typeof watchBadge>[1]

/** How often the panel looks again while it is drawn like this. */
function looks(...drawn: readonly Drawn[]): number {
  let watched = opened(drawn[0]?.live)
  return drawn.filter((panel) => {
    const next = watchBadge(watched, panel)
    watched = next.watched
    return next.isOutdated
  }).length
}

const drawn = (live: string | undefined, diagnosed: string | undefined, isLooking = false): Drawn => ({
  live,
  diagnosed,
  isLooking,
})

describe('an open diagnosis', () => {
  test('is made again when the badge changes', () => {
    expect(looks(drawn('RUNNING', 'RUNNING'), drawn('HTTP 502', 'RUNNING'))).toBe(1)
  })

  test('is not made again when it says the new badge already', () => {
    expect(looks(drawn('RUNNING', 'RUNNING'), drawn('HTTP 502', 'RUNNING', true), drawn('HTTP 502', 'HTTP 502'))).toBe(
      0,
    )
  })

  test('is made again when the badge turned back while it was made', () => {
    const back = [drawn('HTTP 502', 'RUNNING', true), drawn('RUNNING', 'RUNNING', true), drawn('RUNNING', 'HTTP 502')]
    expect(looks(drawn('RUNNING', 'RUNNING'), drawn('HTTP 502', 'RUNNING'), ...back)).toBe(2)
  })

  test('is made again when the badge changed while the first one was made', () => {
    expect(looks(drawn('HTTP 502', undefined, true), drawn('RUNNING', undefined, true))).toBe(0)
    expect(
      looks(drawn('HTTP 502', undefined, true), drawn('RUNNING', undefined, true), drawn('RUNNING', 'HTTP 502')),
    ).toBe(1)
  })

  test('is not made again when it saw the change itself', () => {
    const turned = [drawn('RUNNING', 'HTTP 502', true), drawn('RUNNING', 'RUNNING')]
    expect(looks(drawn('HTTP 502', 'HTTP 502', true), ...turned)).toBe(0)
  })

  test('is not made again for ever when its badge stays another one', () => {
    const differs = drawn('HTTP 502', 'RUNNING')
    expect(looks(drawn('RUNNING', 'RUNNING'), differs, drawn('HTTP 502', 'RUNNING', true), differs, differs)).toBe(1)
  })

  test('is made again once when the list says otherwise from the first on', () => {
    expect(looks(drawn('RUNNING', undefined, true), drawn('RUNNING', 'HTTP 502'), drawn('RUNNING', 'HTTP 502'))).toBe(1)
    expect(looks(drawn(undefined, 'RUNNING'), drawn('HTTP 502', 'RUNNING'), drawn('HTTP 502', 'RUNNING'))).toBe(1)
  })
})
