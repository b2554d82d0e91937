import { execFile } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { privateLine } from '../../../src/operate/private-line.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { freshFolder } from '../../support/fresh.ts'

const run = promisify(execFile)
const MODULES = ['operate/private-line.ts', 'primitives/clock.ts'].map(
  (path) => pathToFileURL(join(import.meta.dirname, '../../../src', path)).href,
)

const at = freshFolder()

const read = (name: string, clock = systemClock) => privateLine(at(name), 'passphrase file', clock)

test('the first line of a file of this user or of root is read, and of no other', async () => {
  writeFileSync(at('pass'), 'first line\nsecond\n', { mode: 0o600 })
  expect(await read('pass')).toBe('first line')
  chmodSync(at('pass'), 0o640)
  await expect(read('pass')).rejects.toThrow(`Run: chmod 0600 ${at('pass')}`)
  await expect(read('none')).rejects.toThrow('cannot be read (ENOENT)')
  await expect(privateLine('/dev/zero', 'passphrase file', systemClock)).rejects.toThrow(
    'neither a regular file nor a pipe',
  )
})

test.runIf(process.getuid?.() === 0)('a file of another user is refused, who could exchange its text', async () => {
  writeFileSync(at('theirs'), 'their line\n', { mode: 0o600 })
  chownSync(at('theirs'), 54_321, 54_321)
  await expect(read('theirs')).rejects.toThrow('belongs to another user (uid 54321)')
})

test('a pipe is read when somebody writes to it', async () => {
  await run('mkfifo', ['-m', '600', at('fifo')])
  const line = read('fifo')
  appendFileSync(at('fifo'), 'from a pipe\n')
  expect(await line).toBe('from a pipe')
})

test('a pipe to which nobody writes is given up', async () => {
  await run('mkfifo', ['-m', '600', at('fifo')])
  const { promise: waits, resolve: give } = Promise.withResolvers<() => void>()
  const clock = {
    ...systemClock,
    after: (_: number, call: () => void) => {
      give(call)
      return { cancel: () => undefined }
    },
  }
  const line = read('fifo', clock)
  line.catch(() => undefined)
  const giveUp = await waits
  giveUp()
  await expect(line).rejects.toThrow('a pipe to which nobody has written a line within 30 s')
})

test.each(['printf "typed line\\n" | %s /dev/stdin', '%s <(printf "typed line\\n")'])(
  'standard input and the pipes of a shell are read: %s',
  async (form) => {
    const code = `Promise.all(${JSON.stringify(MODULES)}.map((module) => import(module)))
      .then(([{ privateLine }, { systemClock }]) => privateLine(process.argv[1], "file", systemClock)).then(console.log)`
    writeFileSync(at('read'), `exec ${process.execPath} -e '${code}' "$1"`)
    const { stdout } = await run('bash', ['-c', form.replace('%s', `bash ${at('read')}`)])
    expect(stdout).toBe('typed line\n')
  },
)
