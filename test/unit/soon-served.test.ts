import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { SecondaryReport } from '../../src/apply/steps/proxy.ts'
import { type EdgeVerdict, soonServed } from '../../src/apply/steps/verify.ts'

const verdict = (ok: boolean): EdgeVerdict => ({
  server: '73',
  ok,
  detail: ok ? 'It answers.' : 'It does not know it.',
})
const never = new Promise<never>(() => undefined)
const changed: SecondaryReport = { ok: true, detail: 'It runs them.' }
const refused: SecondaryReport = { ok: false, detail: 'It could not be changed.' }

describe('the Secondary is reported', () => {
  test('as soon as it answers well, though its former workers are still there', async () => {
    const answers = [false, false, true]
    const judge = async () => verdict(answers.shift() ?? false)
    expect(await soonServed({ placed: Promise.resolve(), report: never }, judge)).toEqual(verdict(true))
    expect(answers).toEqual([])
  })

  test('by what it answers once its work has ended, when it did not answer well before', async () => {
    const report = sleep(40).then(() => changed)
    expect(await soonServed({ placed: Promise.resolve(), report }, async () => verdict(false))).toEqual(verdict(false))
  })

  test('as not changed, without being asked, when its files never stood', async () => {
    const judge = () => expect.fail('there is nothing to ask for')
    expect(await soonServed({ placed: never, report: Promise.resolve(refused) }, judge)).toBe(refused)
  })

  test('as not changed when it goes on with what it had', async () => {
    const report = sleep(40).then(() => refused)
    expect(await soonServed({ placed: Promise.resolve(), report }, async () => verdict(false))).toBe(refused)
  })
})
