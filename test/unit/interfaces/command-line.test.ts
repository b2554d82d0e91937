import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { assertMayApply } from '../../../src/cli/change.ts'
import { parseDuration } from '../../../src/cli/duration.ts'
import { EXIT, exitCodeOf } from '../../../src/cli/exit-codes.ts'
import { hostIn, splitHost } from '../../../src/cli/exposure-options.ts'
import { nextCommand } from '../../../src/cli/next-action.ts'
import { serviceUrl } from '../../../src/cli/service/own-settings.ts'
import { likelyUrls, urlOnThisMachine } from '../../../src/cli/service/service-address.ts'
import { fieldSentences } from '../../../src/cli/views/field-errors.ts'
import type { Policy } from '../../../src/client/bodies.ts'
import { nearestName } from '../../../src/client/nearest-name.ts'
import { commandLine } from '../../../src/compose/command-line.ts'
import { patternInWords } from '../../../src/http/guard/problem.ts'
import { LLMS_TEXT } from '../../../src/http/routes/reference.ts'
import { ERRORS, type ErrorCode } from '../../../src/model/errors.ts'
import { hanging, spanLeft, table } from '../../../src/terminal/text.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const documented = readFileSync('docs/cli.md', 'utf8')

const whole = commandLine().commands
const alone = whole.filter((command) => commandLine(command.name()).commands.length === 1)

test('a command that stands for itself is built without the others, and is the same', () => {
  expect(alone.map((command) => command.name())).toEqual(
    expect.arrayContaining(['status', 'up', 'down', 'plan', 'diff']),
  )
  for (const command of alone)
    expect(commandLine(command.name()).commands[0]?.helpInformation()).toBe(command.helpInformation())
})

test('a command that stands for itself is none with a part that is added elsewhere, and none that nobody knows', () => {
  for (const name of ['edge', 'audit', 'import', 'constructor', ''])
    expect(commandLine(name).commands).toHaveLength(whole.length)
})

test('exit codes are the ones that the page documents', () => {
  const rows = [...documented.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
  expect(rows).toEqual([...Object.values(EXIT), 130])
})

test('every code of the service has an exit code', () => {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const exits = new Set(codes.map((code) => exitCodeOf({ code, retryable: ERRORS[code].retryable })))
  expect([...exits].toSorted()).toEqual([EXIT.refused, EXIT.notNow, EXIT.putBack, EXIT.blocked])
})

test.each([
  ['helo.lab.test', 'hello.lab.test'],
  ['hello.lab.tset', 'hello.lab.test'],
  ['shopp.lab.test', 'shop.lab.test'],
  // Too far from every name, or so short that every short name is like it.
  ['wiki.lab.test', undefined],
  ['x.lab.test', undefined],
])('the nearest name of %s is %s', (given, nearest) =>
  expect(nearestName(given, ['hello.lab.test', 'shop.lab.test', 'y.lab.test'])).toBe(nearest),
)

const leaves = (command: Command): Command[] =>
  command.commands.flatMap((child) => (child.commands.length > 0 ? [child, ...leaves(child)] : [child]))

test('every command is documented, and has an example in its help', () => {
  for (const command of leaves(commandLine())) {
    const path =
      command.parent?.name() === 'drawbridge' ? command.name() : `${command.parent?.name()} ${command.name()}`
    expect(documented, path).toContain(`drawbridge ${path}`)
    if (command.commands.length > 0 && command.name() !== 'audit') continue
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text) })
    command.outputHelp()
    expect(help, path).toMatch(/Example:\n {2}\$ /)
  }
})

describe('the address of the service', () => {
  test('comes from the option, the environment, the file of the user, or is this machine', async () => {
    using folder = tempFolder()
    const environment = { XDG_CONFIG_HOME: folder.path }
    expect(await serviceUrl(undefined, environment)).toBe('http://127.0.0.1:8045')
    mkdirSync(join(folder.path, 'drawbridge'))
    writeFileSync(join(folder.path, 'drawbridge', 'config.yaml'), 'url: http://10.0.0.1:8045\n')
    expect(await serviceUrl(undefined, environment)).toBe('http://10.0.0.1:8045')
    expect(await serviceUrl(undefined, { ...environment, DRAWBRIDGE_URL: 'http://10.0.0.2/' })).toBe('http://10.0.0.2')
    expect(await serviceUrl('https://three.test', { DRAWBRIDGE_URL: 'http://10.0.0.2' })).toBe('https://three.test')
  })

  test('a service of this machine that was just started is waited for', async () => {
    using folder = tempFolder()
    const config = join(folder.path, 'drawbridge.yaml')
    const port = await freePort()
    writeFileSync(config, `listen: { address: 127.0.0.1, port: ${port} }\n`)
    const service = createServer((_request, response) => response.end('{"caller":{"network":"internal"}}'))
    onTestFinished(() => void service.close())
    let looks = 0
    const isRunning = () => {
      looks += 1
      if (looks === 2) service.listen(port, '127.0.0.1')
      return true
    }
    const url = await urlOnThisMachine({ DRAWBRIDGE_CONFIG: config }, { isRunning })
    expect([url, looks > 1]).toEqual([`http://127.0.0.1:${port}`, true])
    service.close()
    expect(await urlOnThisMachine({ DRAWBRIDGE_CONFIG: config }, { isRunning: () => false })).toBe(url)
  })

  test('is refused with its source when it is invalid; a file with line and field', async () => {
    using folder = tempFolder()
    mkdirSync(join(folder.path, 'drawbridge'))
    writeFileSync(join(folder.path, 'drawbridge', 'config.yaml'), 'token: canary\n')
    await expect(serviceUrl(undefined, { XDG_CONFIG_HOME: folder.path })).rejects.toThrow(
      /config\.yaml:1: token is not a setting/,
    )
    await expect(serviceUrl('ftp://x', {})).rejects.toThrow('--url')
    await expect(serviceUrl('http://me:secret@x', {})).rejects.toThrow(/^--url contains a user name or password/)
  })
})

test.each([
  ['hello.example.test', ['example.test'], { zone: 'example.test', subdomain: 'hello' }],
  ['Hello.Example.Test.', ['example.test'], { zone: 'example.test', subdomain: 'hello' }],
  ['a.sub.example.test', ['example.test', 'sub.example.test'], { zone: 'sub.example.test', subdomain: 'a' }],
  ['hello', ['example.test'], { zone: 'example.test', subdomain: 'hello' }],
  ['hello.other.test', ['example.test'], { zone: 'other.test', subdomain: 'hello' }],
  ['a.b.example.test', ['example.test'], { zone: 'example.test', subdomain: 'a.b' }],
])('the host %s is split at its zone', (host, zones, expected) => expect(splitHost(host, zones)).toEqual(expected))

test('a URL is a host, a label without a zone names the zones, and letters that DNS does not have are told in ASCII', () => {
  const typed = ['https://a.test/', 'http://a.test:8443/x?y', 'a.test', 'plan_x']
  expect(typed.map(hostIn).join(' ')).toBe('a.test a.test a.test plan_x')
  expect(() => splitHost('hello', ['a.test', 'b.test'])).toThrow('a.test, b.test')
  expect(() => splitHost('münchen.a.test', ['a.test'])).toThrow('xn--mnchen-3ya.a.test')
})

test('a zone is no host, and a refusal of a value speaks of what was typed', () => {
  expect(() => splitHost('a.test', ['a.test'])).toThrow('hello.a.test')
  expect(
    fieldSentences([
      { field: 'expiresIn', message: 'must be >= 300' },
      { field: 'port', message: 'must be <= 65535' },
      { field: 'options.timeouts.read', message: 'must be <= 86400' },
      { field: 'options.timeouts.send', message: 'must be <= 86400' },
      { field: 'options.allow.0', message: 'must be a network' },
      { field: 'server', message: 'Server 9 is not a deployment target.' },
      { field: 'colour', message: 'is not a known field' },
    ]),
  ).toEqual([
    '--expires-in must be at least 5m',
    '--port must be at most 65535',
    '--timeout must be at most 24h',
    '--allow must be a network',
    'Server 9 is not a deployment target.',
    'colour is not a known field',
  ])
})

test('every pattern of a request has words', () => {
  const { paths, components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as OpenApi
  const bodies = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ parameters = [], requestBody }) => ({ parameters, requestBody })),
  )
  const sent = JSON.stringify([bodies, components.schemas.ExposureRequest])
  const patterns = [...sent.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '']) => JSON.parse(text) as string,
  )
  expect(patterns.length).toBeGreaterThan(8)
  const ids = /^\^plan_|^\^sha256/
  expect(patterns.filter((pattern) => !ids.test(pattern) && patternInWords(pattern) === undefined)).toEqual([])
})

interface OpenApi {
  paths: Record<string, Record<string, { parameters?: object[]; requestBody?: object }>>
  components: { schemas: Record<string, object> }
}

test('a service is looked for where a lab and a configuration say that it listens, then at the defaults', async () => {
  using folder = tempFolder()
  const config = join(folder.path, 'drawbridge.yaml')
  const urls = (text: string) => {
    writeFileSync(config, text)
    return likelyUrls({ DRAWBRIDGE_CONFIG: config })
  }
  expect((await urls('listen: { address: 10.1.2.3, port: 9000 }\n'))[0]).toBe('http://10.1.2.3:9000')
  expect((await urls("listen: { address: '2001:db8::1' }\n"))[0]).toBe('http://[2001:db8::1]:8045')
  expect((await urls('listen: { port: 9000 }\npublicUrls: [https://drawbridge.test]\n'))[0]).toBe(
    'http://127.0.0.1:9000',
  )
  const tls = 'listen: { port: 9000, tls: { certificateFile: a, keyFile: b } }\npublicUrls: [https://drawbridge.test]\n'
  expect((await urls(tls)).slice(0, 2)).toEqual(['https://drawbridge.test', 'https://127.0.0.1:9000'])
  for (const useless of ['', '- a\n', 'listen: [', 'listen: { port: x }\n'])
    expect((await urls(useless)).slice(0, 2)).toContain('http://127.0.0.1:8045')
  writeFileSync(join(folder.path, 'lab.json'), '{ "inside": "http://localhost:4711" }')
  const inLab = await likelyUrls({ DRAWBRIDGE_LAB_STATE: folder.path, DRAWBRIDGE_CONFIG: config })
  expect(inLab[0]).toBe('http://localhost:4711')
  expect(inLab).toContain('http://localhost:8046')
})

test('up is refused before it plans where the caller may not apply', () => {
  const policy = (may: string[]) => ({ caller: { network: 'public', may } }) as unknown as Policy
  expect(() => assertMayApply(policy(['read', 'plan']))).toThrow('nothing was planned')
  expect(() => assertMayApply(policy(['read', 'plan', 'apply']))).not.toThrow()
})

test('what is left is rounded up', () => {
  const [minute, hour] = [60_000, 3_600_000]
  const left = [7_199_000, 2 * hour, 90 * minute + 1, 61_000, 25 * hour, 49 * hour]
  expect(left.map(spanLeft).join(' ')).toBe('2h 2h 91m 61s 25h 3d')
})

test('durations are whole numbers with a unit', () => {
  expect(['90', '90s', '30m', '2h', '7d'].map((text) => parseDuration(text, '--for'))).toEqual([
    90, 90, 1800, 7200, 604_800,
  ])
  for (const text of ['', '-1', '1.5h', '2 h', 'soon', '1w'])
    expect(() => parseDuration(text, '--for')).toThrow('--for')
})

test('text from other people cannot control the terminal', () => {
  const evil = 'a\u001b[2Jb\u0007\r\u009b31m'
  const told = [...hanging('', 0, evil, 80), ...table([{ title: 'HOST', text: () => evil }], [{}], 80)].join('')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
  expect(told).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
})

test('the page for agents fits a screen and names only codes that there are', () => {
  expect(LLMS_TEXT.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  const refusals = LLMS_TEXT.slice(LLMS_TEXT.indexOf('## Refusals'), LLMS_TEXT.indexOf('## More'))
  const named = refusals.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []
  expect(named.length).toBeGreaterThan(20)
  for (const code of [...named, 'host_not_found']) expect(Object.keys(ERRORS)).toContain(code)
})

test('no next action on the command line is an HTTP call', () => {
  const said = Object.entries(ERRORS).map(([code, { nextAction }]) =>
    nextCommand({ code: code as ErrorCode, nextAction }),
  )
  expect(said.filter((sentence) => /\b(?:GET|POST) \/|x-deploy-|header/i.test(sentence))).toEqual([])
  expect(nextCommand({ code: 'a_newer_code' as ErrorCode, nextAction: 'Do this.' })).toBe('Do this.')
})
