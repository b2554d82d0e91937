import { expect, test } from 'vitest'
import { printableText, screenOn } from '../../../src/terminal/screen.ts'

/** A terminal that keeps what it is sent. */
function terminal(environment: Record<string, string> = {}) {
  const written: string[] = []
  const stream = { isTTY: true, columns: 80, write: (text: string) => written.push(text) }
  return { screen: screenOn(stream as unknown as NodeJS.WriteStream, environment), text: () => written.join('') }
}

// Rows 31 and 38 of the threats: names, notes and the words of edge agents are printed as they came.
test.each([
  ['a sequence that clears the screen', '\u001b[2J', '\\u001b[2J'],
  ['one that sets the title', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
  ['one that hides text', '\u001b[8mrm -rf', '\\u001b[8mrm -rf'],
  ['a return of the carriage', 'bad\rgood', 'bad\\u000dgood'],
  ['a control character of eight bits', '\u009b2J', '\\u009b2J'],
  ['another direction of writing', 'a\u202etxt.exe', 'a\\u202etxt.exe'],
  ['an isolate', '\u2066x\u2069', '\\u2066x\\u2069'],
  ['a tag that nobody sees', '\u{e0041}', '\\udb40\\udc41'],
])('%s is shown and not obeyed', (_, sent, shown) => {
  const { screen, text } = terminal()
  screen.print(sent)
  screen.showProgress(sent)
  expect(text()).toBe(`${shown}\n\r\u001b[K${shown}`)
})

test('our own colours, tabs and letters of every script stay', () => {
  const { screen, text } = terminal()
  const line = `${screen.paint('bad', 'Größe')}\t日本語 שלום`
  screen.print(line)
  expect(text()).toBe(`${line}\n`)
})

test('a screen that is drawn anew obeys nothing but its own clearing', () => {
  const { screen, text } = terminal()
  screen.redraw('one\u001b[2J', 'two')
  expect(text()).toBe('\u001b[H\u001b[2Jone\\u001b[2J\ntwo\n')
})

test('what a question quotes is shown and not obeyed', () =>
  expect(printableText('Remove x\u001b[2J?\nYes')).toBe('Remove x\\u001b[2J?\nYes'))

test('without colours nobody else paints either', () => {
  const { screen, text } = terminal({ NO_COLOR: '1' })
  screen.print('\u001b[31mred')
  expect(text()).toBe('\\u001b[31mred\n')
})
