import { expect, test } from 'vitest'
import { stream } from '../../../src/client/stream.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const refused =
  (code: string, retryable: boolean, more: object = {}) =>
  () =>
    Response.json({ code, detail: `${code}.`, nextAction: 'Wait.', retryable, ...more }, { status: 503 })
const event = (id: string) => () => new Response(`id: ${id}\nevent: badge\ndata: {}\n\n`)

/** A source whose requests get these answers, and when each was asked, and after which event. */
function sourceOf(answers: readonly (() => Response)[]) {
  const clock = new VirtualClock()
  const asked: [at: number, after: string | undefined][] = []
  const fetch = async (_: unknown, { headers = {} }: RequestInit = {}) => {
    asked.push([clock.monotonic(), (headers as Record<string, string>)['last-event-id']])
    return answers[asked.length - 1]?.() ?? refused('not_found', false)()
  }
  const source = { baseUrl: 'http://service.test', path: '/events', endless: true, clock }
  return { clock, asked, source: { ...source, fetch: fetch as typeof globalThis.fetch } }
}

async function idsOf(events: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = []
  // Ends with the refusal that is not for now.
  try {
    for await (const { id } of events) ids.push(id)
  } catch (error) {
    ids.push(error instanceof Error ? error.message : '')
  }
  return ids
}

test('an endless stream goes on after the service was restarted, waits as long as it is told, and continues from the last event', async () => {
  const { clock, asked, source } = sourceOf([
    event('1'),
    refused('unavailable', true, { retryAfter: 5 }),
    refused('rate_limited', true),
    event('2'),
  ])
  expect(await clock.advanceUntil(idsOf(stream(source)))).toEqual(['1', '2', 'not_found.'])
  expect(asked).toEqual([
    [0, undefined],
    [1_000, '1'],
    [6_000, '1'],
    [7_000, '1'],
    [8_000, '2'],
  ])
})

test('who was never let in is told, and so is the reader of one run', async () => {
  const { clock, source } = sourceOf([refused('unavailable', true), event('1')])
  expect(await clock.advanceUntil(idsOf(stream(source)))).toEqual(['unavailable.'])
  const run = sourceOf([refused('unavailable', true)])
  expect(await idsOf(stream({ ...run.source, endless: false }))).toEqual(['unavailable.'])
})
