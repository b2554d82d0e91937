import { describe, expect, test } from 'vitest'
import { newCapability } from '../../../src/authorize/credentials.ts'
import { Secret } from '../../../src/config/secret.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { fc, forAll } from '../../support/fast-check.ts'

function logOf(secrets: string[], write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = []
  const sink = { write: (line: string) => void lines.push(line) }
  const hidden = secrets.map((secret) => new Secret(secret))
  write(createLog('trace', hidden, sink))
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
  return lines.join('')
}

/** Every place of a log line that a secret has been seen to hide in. */
const places: [string, (log: ReturnType<typeof createLog>, secret: string) => void][] = [
  ['a message', (log, secret) => log.info(`got ${secret} from a caller`)],
  ['a message with place-holders', (log, secret) => log.info('got %s and %j', secret, { secret })],
  ['a member', (log, secret) => log.warn({ secret }, 'x')],
  ['a member far down', (log, secret) => log.error({ a: { b: { c: { d: [{ e: [secret] }] } } } }, 'x')],
  ['the name of a member', (log, secret) => log.info({ [secret]: { [secret]: 1 } }, 'x')],
  ["an error's text", (log, secret) => log.error({ err: new Error(`refused: ${secret}`) }, 'x')],
  ['an error alone', (log, secret) => log.error(new Error(`refused: ${secret}`))],
  ["an error's cause", (log, secret) => log.error({ err: new Error('x', { cause: new Error(secret) }) })],
  ["an error's member", (log, secret) => log.error({ err: Object.assign(new Error('x'), { input: secret }) })],
  ['several errors in one', (log, secret) => log.error({ err: new AggregateError([new Error(secret)], secret) })],
  ['a child log', (log, secret) => log.child({ caller: secret }).info('x')],
  ['JSON inside a text', (log, secret) => log.info({ body: JSON.stringify({ secret }) }, JSON.stringify([secret]))],
  ['a buffer turned to text', (log, secret) => log.info({ body: Buffer.from(secret).toString() })],
  ['the text beside other text', (log, secret) => log.info(`x${secret}y${secret}${secret}z`)],
]

test.each(places)('a capability in %s is not shown', (_name, write) => {
  const capability = newCapability()
  const text = logOf([], (log) => write(log, capability))
  expect(text).toContain('[capability]')
  expect(text).not.toContain(capability)
  expect(text).not.toContain(capability.slice(8, 40))
})

test('a capability cut short by a few characters is not shown either', () => {
  const capability = newCapability()
  const text = logOf([], (log) => log.info(capability.slice(0, 30)))
  expect(text).not.toContain(capability.slice(0, 30))
})

describe.each([
  ['plain', 's3cr3t-of-the-house'],
  ['with a quote', 'pass"word"of"the"house'],
  ['with a backslash', 'pass\\word\\of\\the\\house'],
  ['with a newline and a tab', 'pass\nword\tof-the-house'],
  ['with a control character', 'pass\u0001word\u001fof-the-house'],
  ['with characters that mean something in a pattern', 'p.*ss(w+o|r)[d]$&$1^'],
  ['beyond ASCII', 'pässwörd-of-the-house-\u2028-🔑'],
  ['all at once', '"\\\n\\"ü$&'],
])('a configured secret, %s,', (_name, secret) => {
  test.each(places)('in %s is not shown', (_place, write) => {
    const text = logOf([secret], (log) => write(log, secret))
    expect(text).toContain('[secret]')
    for (const spelling of spellings(secret)) expect(text).not.toContain(spelling)
  })
})

/** As it is, as JSON writes it, as JSON inside JSON writes it. */
function spellings(secret: string): string[] {
  const once = JSON.stringify(secret).slice(1, -1)
  return [secret, once, JSON.stringify(once).slice(1, -1)]
}

describe('the scrubbing', () => {
  test('of two secrets, one inside the other, leaves nothing of the longer one', () => {
    const text = logOf(['house', 'lighthouse-keeper'], (log) => log.info('the lighthouse-keeper of the house'))
    expect(text).not.toMatch(/lighthouse|keeper|house/)
  })

  test('of an empty secret changes nothing', () =>
    expect(logOf([''], (log) => log.info('nothing to hide'))).toContain('nothing to hide'))

  test('leaves a line that is still JSON, whatever the secret', () =>
    forAll(fc.string({ minLength: 12, unit: 'binary' }), fc.string(), (secret, around) => {
      const text = logOf([secret], (log) => log.info({ value: `${around}${secret}${around}` }, 'x'))
      expect(text).toContain('[secret]')
    }))

  test('a Secret shows itself nowhere by accident', () => {
    const secret = new Secret('s3cr3t-of-the-house')
    const text = logOf([], (log) => log.info({ secret, nested: [{ secret }] }, `${secret}`))
    expect(text).not.toContain('s3cr3t')
    expect(text).toContain('[secret]')
  })
})

test('the cause of an error follows its sentence as a sentence, and a clause behind a colon', () => {
  const cause = new Error('ENOSPC: no space left')
  const messageOf = (message: string) =>
    JSON.parse(logOf([], (log) => log.error({ err: new Error(message, { cause }) }, 'x'))).err.message
  expect(messageOf('The disk is full. Free space there.')).toBe(
    'The disk is full. Free space there. Cause: ENOSPC: no space left',
  )
  expect(messageOf('connect failed')).toBe('connect failed: ENOSPC: no space left')
})
