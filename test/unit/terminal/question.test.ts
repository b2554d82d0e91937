import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { codeFrom } from '../../../src/operate/edge/code.ts'
import { terminalAsk } from '../../../src/operate/init/answers.ts'
import { confirm, Declined } from '../../../src/terminal/declare.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** A terminal in the place of this process's: what a person types, and what they see. */
function person() {
  const typed = Object.assign(new PassThrough(), { isTTY: true })
  const screen = new PassThrough()
  for (const [name, value] of Object.entries({ stdin: typed, stderr: screen })) {
    const before = Object.getOwnPropertyDescriptor(process, name) ?? {}
    Object.defineProperty(process, name, { configurable: true, value })
    onTestFinished(() => void Object.defineProperty(process, name, before))
  }
  let seen = ''
  screen.on('data', (part) => {
    seen += String(part)
  })
  return { typed, seen: () => seen }
}

const asking = (question: string) => terminalAsk()?.(question, undefined)
const removing = () => confirm({ question: 'Remove it?', action: 'remove it', yes: undefined })

test('answers that were typed ahead are taken by the questions that follow, and shown there', async () => {
  const { typed, seen } = person()
  typed.write('lab.test\n192.0.2.53\n')
  expect(await asking('Zone')).toBe('lab.test')
  expect(await asking('DNS server')).toBe('192.0.2.53')
  expect(seen()).toContain('DNS server: 192.0.2.53\n')
})

test('a code that was typed ahead is taken and not shown', async () => {
  const { typed, seen } = person()
  typed.write('lab.test\ncanary-code\n')
  await asking('Zone')
  expect(await codeFrom(undefined, new VirtualClock())).toBe('canary-code')
  expect(seen()).not.toContain('canary')
})

test('a line that was typed ahead confirms nothing, and answers nothing later', async () => {
  const { typed, seen } = person()
  typed.write('lab.test\ny\n')
  await asking('Zone')
  const removed = removing()
  await expect.poll(seen).toContain('Remove it? [y/N]')
  typed.write('n\n')
  await expect(removed).rejects.toThrow('Nothing was changed.')
})

test('who leaves a question has declined', async () => {
  for (const question of [() => asking('Zone'), () => codeFrom(undefined, new VirtualClock()), removing]) {
    const { typed } = person()
    typed.end()
    await expect(question()).rejects.toThrow(Declined)
  }
})
