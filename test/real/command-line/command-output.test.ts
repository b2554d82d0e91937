import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { VERSION } from '../../../src/runtime/version.ts'
import { startCannedApi } from '../../support/http/canned-api.ts'
import { command } from '../../support/programs/command.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { finalScreen, onTerminal } from '../../support/programs/pseudo-terminal.ts'

let api: Awaited<ReturnType<typeof startCannedApi>>

beforeAll(async () => {
  api = await startCannedApi()
})

afterAll(() => api?.close())

test('the version is told without the command line', async () => {
  expect(await drawbridge(['--version'])).toMatchObject({ code: 0, stdout: `${VERSION}\n`, stderr: '' })
})

/** Code that writes, at the end, which parts of Node and which files of the bundle were loaded. */
const TELL_LOADED = `
  import { registerHooks } from 'node:module'
  import { basename } from 'node:path'
  const files = []
  registerHooks({ load: (url, context, next) => (url.includes('/dist/') && files.push(basename(url)), next(url, context)) })
  process.on('exit', () => process._rawDebug(JSON.stringify({ files, parts: process.moduleLoadList })))`

test('a shell completes names with neither the command line nor the client of the API loaded', async () => {
  const ask = `--import data:text/javascript,${encodeURIComponent(TELL_LOADED)}`
  const environment = { NODE_OPTIONS: ask, DRAWBRIDGE_URL: api.url }
  const { stdout, stderr } = await drawbridge(['complete', 'hosts-and-plans', 'HELLO'], { environment })
  const { files, parts } = JSON.parse(stderr) as Record<'files' | 'parts', string[]>
  expect(stdout).toBe('hello.example.test\n')
  expect(files).toContain('completion.js')
  expect(files.filter((file) => !/^(completion|_lean-http|rolldown-runtime)\b/.test(file))).toEqual([])
  expect(parts.filter((part) => /undici|http2|tls|crypto\/|worker_threads/.test(part))).toEqual([])
  const plans = await command(['complete', 'hosts-and-plans', 'plan_', '--url', api.url])
  expect(plans.stdout).toMatch(/^plan_/)
})

test('what completion cannot read is told by the command line, and options are read by it', async () => {
  const environment = { DRAWBRIDGE_URL: 'ftp://nowhere' }
  expect(await drawbridge(['complete', 'hosts'], { environment })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('DRAWBRIDGE_URL'),
  })
  const asked = await drawbridge(['complete', 'hosts', 'hel', '--url', api.url], { environment })
  expect(asked).toEqual({ code: 0, stdout: 'hello.example.test\n', stderr: '' })
})

/** Replaces times, durations and addresses by fixed ones of the same width. */
const steady = (text: string): string =>
  text
    .replaceAll(/ \d+ ms$/gm, ' N ms')
    .replaceAll(/\d{4}-\d\d-\d\d(\s+)\d\d:\d\d:\d\d/g, (_, gap: string) => `2026-01-31${gap}12:00:00`)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-31T12:00:00.000Z')
    .replaceAll(/\b\d\d-\d\d \d\d:\d\d\b(?!:)/g, '01-31 12:00')
    .replaceAll(api.url, 'http://127.0.0.1:8045')

const UP = 'up hello --server 25 --port 3000 --expires-in 2h --yes'
const SICK = 'extend plan_x --for 2h'
const SHOWN = [
  'policy',
  'plan hello.example.test --server 25 --port 3000',
  'plan hello --server 25 --port 3000 --replaces plan_1a2b3c4d5e6f7g8h9j0k1m2n3p',
  UP,
  'status',
  'health hello.example.test',
  'health nobody.example.test',
  'diagnose hello.example.test',
  'diff hello.example.test',
  'repair hello.example.test --overwrite',
  'accept hello.example.test --yes',
  'show hello.example.test',
  'status hello.example.test',
  'status -o wide',
  'status -o name',
  'status -o yaml',
  'wait hello.example.test --for RUNNING',
  'plans',
  'plans -o name',
  'plans show plan_4c7p0wq9d2f6h8k1m3n5r7t9v0',
  'plans show https://hello.example.test/',
  'audit',
  'events --limit 5',
  'events -o name',
  SICK,
]

const quoted = (line: string, { url } = api) => `${launcher()} ${line} --url ${url}`

/** A word that is never broken, so that it can be copied. */
const UNBREAKABLE = /\/etc\/nginx|plan_|https?:|sha256:|hosts\/|NO_CHANGE|-o |^@ /
const TERMINAL = { TERM: 'xterm-256color' }
const TABLES = /^@ (status|plans|audit)$/

describe.each([40, 80, 160])('for a person at %d columns', (columns) => {
  test('every command shows what it has to say, and no line is longer', async () => {
    // One screen for all commands: an `@` line separates them.
    const shown =
      columns === 80 ? SHOWN : SHOWN.filter((line) => !line.startsWith('up ') && !/^(repair|accept)/.test(line))
    let output = ''
    for (const line of shown) {
      const { stdout } = await command([...line.split(' '), '--url', api.url], { columns, environment: TERMINAL })
      output += `@ ${line}\n${stdout}`
    }
    // A terminal begins each line at its left edge.
    const screen = finalScreen(output.replaceAll('\n', '\r\n'))
    expect(steady(screen.join('\n'))).toMatchSnapshot()
    let isTable = false
    let isWide = false
    for (const line of screen) {
      if (line.startsWith('@ ')) {
        isTable = TABLES.test(line)
        isWide = line.includes('-o ')
      } else if (isTable || !(isWide || UNBREAKABLE.test(line) || (columns === 40 && !line.includes(' '))))
        expect(line.length, line).toBeLessThanOrEqual(columns === 40 && !isTable ? 64 : columns)
    }
    expect(output).toContain('\u001b[32m')
  })
})

test('the program shows on a real terminal and in a pipe what the command shows in this process', async () => {
  const [line, columns] = ['status', 60]
  const [args, here] = [[line, '--url', api.url], { columns, environment: TERMINAL }]
  const onScreen = await onTerminal(quoted(line), { columns })
  expect(onScreen.replaceAll('\r', '')).toBe((await command(args, here)).stdout)
  expect(await drawbridge(args)).toEqual(await command(args))
})

describe('for a person', () => {
  test('NO_COLOR leaves the words', async () => {
    const environment = { ...TERMINAL, NO_COLOR: '1' }
    const { stdout } = await command(['status', '--url', api.url], { columns: 80, environment })
    expect(stdout).not.toContain('\u001b[')
    expect(stdout).toContain('RUNNING')
  })

  test('up asks, and the answer no changes nothing', async () => {
    const line = `${quoted('up hello --server 25 --port 3000')}; echo "code $?"`
    const declined = await onTerminal(line, { input: 'n\n' })
    expect(declined).toContain('Expose hello.example.test? [y/N]')
    expect(declined).toContain('Nothing was changed.')
    expect(declined).toContain('code 8')
  })
})

test('leaving a question by Ctrl-C or Ctrl-D says that nothing was changed, and ends with 8', async () => {
  for (const key of ['\u0003', '\u0004']) {
    const line = `${quoted('down hello.example.test')}; echo "code $?"`
    const left = await onTerminal(`stty sane; stty cols 80 -echo; ${line}`, { input: key, inputAfter: '[y/N]' })
    expect(left).toMatch(/Remove hello\.example\.test\? \[y\/N\][\s\S]*Nothing was changed\.[\s\S]*code 8/)
  }
})

test('Ctrl-C during a run restores the cursor, says that the run goes on, and how to follow it', async () => {
  const unending = await startCannedApi({ endsRuns: false })
  const line = `${quoted('apply plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 --yes', unending)}; echo "code $?"`
  const left = await onTerminal(`trap : INT; ${line}`, { input: '\u0003', inputAfter: 'keep what' })
  expect(left).toContain('\u001b[?25h')
  expect(left).toMatch(
    /The run goes on[\s\S]*drawbridge plans show plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 --follow[\s\S]*code 130/,
  )
  await unending.close()
})

test('names are taken as people have them: a URL, a zone that is not managed, letters that DNS does not have', async () => {
  const planning = ['--server', '25', '--port', '3000', '--url', api.url]
  expect((await command(['plan', 'https://hello.example.test/path', ...planning])).code).toBe(0)
  const unicode = await command(['plan', 'münchen.example.test', ...planning])
  expect(unicode).toMatchObject({ code: 2, stderr: expect.stringContaining('xn--mnchen-3ya.example.test') })
})

test('a refusal tells its reason once', async () => {
  const { stderr } = await command(['extend', 'plan_x', '--for', '2h', '--url', api.url])
  expect(stderr.match(/HTTP 503/g)?.length).toBeLessThanOrEqual(2)
})

describe('a repair that would overwrite something', () => {
  test('asks at a terminal, and goes on at yes', async () => {
    const overwritten = await onTerminal(quoted('repair hello.example.test'), { input: 'y\n' })
    expect(overwritten).toContain('hosts/hello.example.test.conf')
    expect(overwritten).toContain('Overwrite what was changed outside Drawbridge? [y/N]')
    expect(overwritten).toContain('Repaired: https://hello.example.test/')
  })

  test('is refused without a terminal and without --overwrite, with the commands that help', async () => {
    const { code, stdout, stderr } = await command(['repair', 'hello.example.test', '--url', api.url])
    expect(code).toBe(3)
    expect(stdout).toContain('(changed outside Drawbridge)')
    expect(stdout).not.toContain('Repaired')
    expect(stderr).toMatch(
      /changed_elsewhere[\s\S]*drawbridge repair hello\.example\.test --overwrite[\s\S]*accept hello/,
    )
  })
})

test('accept says what stays and what ends before it asks, and refuses without --yes where nobody can be asked', async () => {
  const declined = await onTerminal(`${quoted('accept hello.example.test')}; echo "code $?"`, { input: 'n\n' })
  expect(declined).toMatch(/stays on the air[\s\S]*owner mark[\s\S]*written once[\s\S]*nobody renews[\s\S]*\[y\/N\]/)
  expect(declined).toContain('code 8')
  const silent = await command(['accept', 'hello.example.test', '--url', api.url])
  expect(silent).toMatchObject({ code: 2, stderr: expect.stringContaining('pass --yes to accept hello.example.test') })
})

describe('without a terminal', () => {
  test('the same stands on plain lines, without colour and not broken', async () => {
    const shown: string[] = []
    for (const line of SHOWN) {
      const { code, stdout, stderr } = await command([...line.split(' '), '--url', api.url])
      shown.push(`@ ${line}`, stdout + stderr, `@ code ${code}`)
    }
    expect(steady(shown.join('\n'))).toMatchSnapshot()
    expect(shown.join('')).not.toContain('\u001b')
  })

  test('--json is one document on standard output, refusals too', async () => {
    for (const line of SHOWN.filter((each) => !each.includes(' -o '))) {
      const { stdout, stderr } = await command([...line.split(' '), '--json', '--url', api.url])
      expect(() => JSON.parse(stdout), line).not.toThrow()
      expect(stderr, line).toBe('')
    }
  })

  test('up refuses to run without --yes', async () => {
    const { code, stderr } = await command(['up', 'hello', '--server', '25', '--port', '3000', '--url', api.url])
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Not a terminal: pass --yes to apply without a prompt.'),
    })
  })

  test.each([
    [['nonsense'], 2],
    [['up', 'hello'], 2],
    [['plan', 'hello', '--server', '25', '--port', 'x'], 2],
    [['policy', '--url', 'http://user:canary-secret@127.0.0.1:9'], 2],
    [['policy', '--url', 'http://127.0.0.1:9'], 7],
    [['completion', 'powershell'], 2],
    [['doctor', '--config', '/nowhere/drawbridge.yaml'], 1],
    [['--help'], 0],
    [['status', '--help'], 0],
  ])('%j ends with %d and without a stack', async (args, expected) => {
    const { code, stdout, stderr } = await (args.includes('policy') ? drawbridge : command)(args)
    expect({ args, code }).toEqual({ args, code: expected })
    expect(stdout + stderr).not.toMatch(/\n\s+at |node:internal|canary-secret/)
  })
})
