import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * Which room may import which: a folder of src/, or a file of it where only that file is allowed. A room may always import
 * itself. What is not listed here is refused. docs/architecture.md has the same rules; a test below compares the two.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  model: [],
  primitives: [],
  terminal: [],
  client: ['primitives/clock.ts'],
  plan: ['model'],
  diagnose: ['model'],
  metrics: ['model', 'primitives/clock.ts'],
  config: ['model'],
  dns: ['model', 'primitives'],
  edge: ['model', 'primitives'],
  estate: [
    'model',
    'primitives',
    'edge/contract',
    'edge/faults.ts',
    'edge/layout.ts',
    'edge/record',
    'edge/served.ts',
    'edge/served-list.ts',
  ],
  nginx: [
    ...[
      'model',
      'primitives',
      'estate',
      'edge/contract',
      'edge/faults.ts',
      'edge/layout.ts',
      'edge/record',
      'edge/served.ts',
    ],
    ...['edge/engine', 'edge/fences', 'edge/visit', 'edge/agent/machine.ts', 'edge/authority/certificate.ts'],
  ],
  certificates: ['model', 'primitives', 'dns/contract.ts', 'store/ports'],
  store: ['model', 'primitives', 'audit/chain.ts'],
  audit: ['model', 'store/ports'],
  authorize: ['model', 'store/ports'],
  runtime: ['primitives', 'config/secret.ts', 'authorize/credentials.ts'],
  notify: ['model', 'primitives', 'store/ports', 'runtime/log.ts'],
  observe: [
    'model',
    'primitives',
    'plan',
    'dns/contract.ts',
    'edge/contract',
    'edge/served.ts',
    'certificates/contract.ts',
    'certificates/budget/caa.ts',
    'store/ports',
  ],
  runs: [
    'model',
    'primitives',
    'plan/steps.ts',
    'audit/trail.ts',
    'store/ports',
    'dns/contract.ts',
    'edge/contract',
    'edge/record',
    'certificates/contract.ts',
    'certificates/budget/renewal-schedule.ts',
    'runtime/log.ts',
  ],
  monitor: [
    'model',
    'primitives',
    'store/ports',
    'edge/contract',
    'edge/served.ts',
    'runs/engine/lease.ts',
    'runtime/log.ts',
  ],
  usecases: [
    'model',
    'primitives',
    'plan',
    'diagnose',
    'observe',
    'authorize',
    'audit/trail.ts',
    'runs',
    'config',
    'dns/contract.ts',
    'edge/contract',
    'edge/record',
    'edge/served.ts',
    'store/ports',
  ],
  http: [
    'model',
    'primitives',
    'plan',
    'diagnose',
    'authorize',
    'audit/trail.ts',
    'usecases',
    'runs/engine',
    'runs/steps/verify.ts',
    'notify/event-feed.ts',
    'notify/webhook-report.ts',
    'monitor/board.ts',
    'monitor/listing.ts',
    'metrics',
    'store/ports',
    'runtime/log.ts',
  ],
  mcp: ['client', 'model', 'plan/desired.ts'],
  cli: [
    ...['terminal', 'client', 'config/document.ts', 'config/exposures-file.ts', 'mcp', 'runtime/version.ts'],
    ...['model/options/grammar.ts', 'model/options/words.ts', 'model/badge.ts', 'model/dns-name.ts'],
    ...['primitives/clock.ts', 'primitives/retry.ts'],
  ],
  operate: [
    'model',
    'primitives',
    'terminal',
    'config',
    'audit',
    'authorize',
    'runs',
    'notify',
    'usecases/policy.ts',
    'http/app.ts',
    'http/certificate-reload.ts',
    'edge/contract',
    'edge/record',
    'dns/contract.ts',
    'certificates/contract.ts',
    'store/ports',
    'runtime',
  ],
  compose: ['*'],
}

/** Rooms and files that only look (rule 4). They may not even name what can write. */
const MAY_NOT_WRITE = [
  'plan',
  'diagnose',
  'observe',
  'usecases/diagnoser.ts',
  'usecases/drift.ts',
  'usecases/policy.ts',
  'usecases/progress.ts',
]
/** Contracts and classes through which something of the world can be changed. */
const WRITERS = [
  'Edge',
  'DnsProvider',
  'CertificateIssuer',
  'OrderBudget',
  'ChallengeResponder',
  'Runs',
  'Renewals',
  'BackupShelf',
  'Store',
  'StoreSession',
  'AuditTrail',
]

/** Only these may open sockets, start programs or touch files. */
const MAY_REACH_OUT = [
  'dns',
  'edge',
  'estate',
  'nginx',
  'certificates',
  'observe/health-probe.ts',
  'store/dialects',
  'http',
  'notify/webhook-request.ts',
  'primitives/durable-file.ts',
  'runs/backup-shelf.ts',
  'runtime',
  'operate',
  'config',
  'cli/service/get-json.ts',
  'cli/service/own-settings.ts',
  'cli/service/service-address.ts',
  'operate/control/client.ts',
]
const REACHING_OUT =
  /^(?:node:)?(?:child_process|net|dgram|tls|http|https|http2|fs|fs\/promises|dns)$|^undici$|^pg$|^better-sqlite3$/
/** Of these modules the model uses the pure parts only. */
const PURE_PARTS: Record<string, readonly string[]> = { 'model/address.ts': ['node:net'] }

/** The one file that may name the clock and the timers of the machine. Everything else is given a clock. */
const CLOCK = 'primitives/clock.ts'
const TIME: readonly RegExp[] = [
  // Also as members of `globalThis`, of a module or of a socket, and under another name.
  /\b(?:setTimeout|setInterval|setImmediate|performance|hrtime|Temporal)\b|\bprocess\.uptime\b|\buptime\b.*= process\b/,
  // `Date` may read a time and write one, and be a type.
  /\bDate\b(?!\.(?:parse|UTC)\b)(?<!\bnew Date(?=\(\s*[^\s)]))(?<!: Date)/,
  /\bAbortSignal\b(?:\.timeout\b|\[)|= AbortSignal\b(?!\.)/,
]
const TIME_MODULES = /^(?:node:)?(?:timers|timers\/promises|perf_hooks)$/
/** Parts of these modules that neither tell the time nor wait. */
const NO_TIMERS = ['monitorEventLoopDelay']
/** Limits that a socket, a program or a database keeps by itself, where the library takes no other. */
const OWN_LIMITS = /\btimeout: (?:[A-Z\d]|\w+Ms\b)/
const MAY_SET_LIMITS = [
  ...['edge/remote/agent-connection.ts', 'notify/webhook-request.ts', 'nginx/process/nginx-thread.ts'],
  ...['edge/fences/folder-lock.ts', 'runtime/instance.ts', 'store/dialects/sqlite.ts'],
]
/** Those who put a service, a client, a store or a command together choose its clock. All others are given one. */
const MAY_CHOOSE_CLOCK = [
  'primitives',
  'compose',
  'client/client.ts',
  'store/open.ts',
  'cli/completion/offered.ts',
  'cli/service/service-address.ts',
  'operate/control/client.ts',
  'dns/read-back.ts',
]
/** Those who compare a time with the stamps of files and processes. */
const MAY_ASK_KERNEL = ['nginx/local-edge.ts', 'nginx/process/loaded.ts', 'estate/reading/text/config-files.ts']

const MOST_FILES_IN_A_FOLDER = 16

interface Import {
  readonly from: string
  readonly to: string
  readonly names: readonly string[]
}

/** Static imports, re-exports and `import()`. */
function importsIn(file: string, text: string): Import[] {
  const statements = [...text.matchAll(/^(?:import|export)\s+(?:type\s+)?(?:([\w*\s{},$]*?)\sfrom\s+)?'([^']+)'/gm)]
  const dynamic = [...text.matchAll(/(?:\{([^{}]*)\}\s*=\s*await\s+)?\bimport\(\s*'([^']+)'\s*\)/g)]
  return [...statements, ...dynamic].map(([, clause = '', target = '']) => ({
    from: file,
    to: target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
    names: clause.split(/[{},\s]+/).filter((word) => word !== '' && word !== 'type' && word !== 'as'),
  }))
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const textOf = (file: string): string => readFileSync(join('src', file), 'utf8')
const all = files.flatMap((file) => importsIn(file, textOf(file)))
const ours = all.filter(({ to }) => to.endsWith('.ts'))

const roomOf = (file: string): string => file.split('/')[0] ?? file
const covers = (rule: string, file: string): boolean => rule === '*' || file === rule || file.startsWith(`${rule}/`)
const shown = ({ from, to }: Pick<Import, 'from' | 'to'>): string => `${from} -> ${to}`

const notAllowed = (imports: readonly Import[]): string[] =>
  imports
    .filter(({ from, to }) => ![roomOf(from), ...(MAY_IMPORT[roomOf(from)] ?? [])].some((rule) => covers(rule, to)))
    .map(shown)

const writersHeld = (imports: readonly Import[]): string[] =>
  imports
    .filter(({ from }) => MAY_NOT_WRITE.some((rule) => covers(rule, from)))
    .flatMap(({ from, names }) => names.filter((name) => WRITERS.includes(name)).map((name) => `${from} has ${name}`))

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm, '')

/** Where a file has a clock or a timer that it was not given. */
function timeIn(file: string, text: string): string[] {
  if (file === CLOCK) return []
  const code = withoutComments(text)
  const named = TIME.flatMap((pattern) => pattern.exec(code)?.[0] ?? [])
  const limits = MAY_SET_LIMITS.includes(file) ? [] : (OWN_LIMITS.exec(code)?.slice(0, 1) ?? [])
  const imports = importsIn(file, text)
  const modules = imports
    .filter(
      ({ to, names }) => TIME_MODULES.test(to) && !(names.length > 0 && names.every((n) => NO_TIMERS.includes(n))),
    )
    .map(({ to }) => to)
  const chosen = imports
    .filter(({ to }) => to === CLOCK)
    .flatMap(({ names }) => [
      ...(names.includes('systemClock') && !MAY_CHOOSE_CLOCK.some((rule) => covers(rule, file)) ? ['systemClock'] : []),
      ...(names.includes('kernelTime') && !MAY_ASK_KERNEL.includes(file) ? ['kernelTime'] : []),
    ])
  return [...named, ...limits, ...modules, ...chosen].map((what) => `${file} has ${what}`)
}

/** A circle among nodes, as a path; undefined when there is none. */
function circleIn(edges: readonly { readonly from: string; readonly to: string }[]): string | undefined {
  const next = Map.groupBy(edges, ({ from }) => from)
  const done = new Set<string>()
  const visit = (node: string, path: readonly string[]): string | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(' -> ')
    if (done.has(node)) return undefined
    for (const { to } of next.get(node) ?? []) {
      const circle = visit(to, [...path, node])
      if (circle) return circle
    }
    done.add(node)
    return undefined
  }
  for (const node of next.keys()) {
    const circle = visit(node, [])
    if (circle) return circle
  }
  return undefined
}

/** Circles among the children of each folder: a sub-folder counts as one node, with everything in it. */
function circlesOfFolders(imports: readonly Import[]): string[] {
  const folders = new Set(imports.flatMap(({ from, to }) => [...foldersAbove(from), ...foldersAbove(to)]))
  return [...folders].flatMap((folder) => {
    const inside = imports.filter(({ from, to }) => from.startsWith(folder) && to.startsWith(folder))
    const child = (file: string) => file.slice(folder.length).split('/')[0] ?? ''
    const edges = inside.map(({ from, to }) => ({ from: child(from), to: child(to) }))
    const circle = circleIn(edges.filter(({ from, to }) => from !== to))
    return circle === undefined ? [] : [`${folder || 'src'}: ${circle}`]
  })
}

/** '' and every folder above a file: `estate/reading/text/tokens.ts` has '', `estate/`, `estate/reading/`, `estate/reading/text/`. */
const foldersAbove = (file: string): string[] =>
  file.split('/').map((_, depth, parts) =>
    parts
      .slice(0, depth)
      .map((part) => `${part}/`)
      .join(''),
  )

describe('the rooms', () => {
  test('every folder has its rule, and nothing lies loose at the root of src/', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in MAY_IMPORT))).toEqual([])
  })

  test('no room imports what its rule does not allow', () => {
    expect(notAllowed(ours)).toEqual([])
  })

  test('no files and no folders import each other in a circle', () => {
    expect(circlesOfFolders(ours)).toEqual([])
    expect(circleIn(ours)).toBeUndefined()
  })

  test('what plans, observes or diagnoses holds nothing that can write', () => {
    expect(writersHeld(ours)).toEqual([])
  })

  test('the edge has no word of the language of nginx: another web server could stand behind its contract', () => {
    const words =
      /\b(?:server_name|proxy_pass|ssl_certificate|listen \d|add_header|location [=/~])|\.conf\b|drawbridge_\w+;/
    const told = files.filter((file) => covers('edge', file) && words.test(withoutComments(textOf(file))))
    expect(told).toEqual([])
  })

  test('a folder holds at most 16 files of its own', () => {
    const counts = Map.groupBy(files, dirname)
    const full = [...counts].filter(([, inside]) => inside.length > MOST_FILES_IN_A_FOLDER).map(([folder]) => folder)
    expect(full).toEqual([])
  })
})

describe('docs/architecture.md', () => {
  const page = readFileSync('docs/architecture.md', 'utf8')
  const section = page.split(/^## /m).find((text) => text.startsWith('Who may import whom\n')) ?? ''
  const inBackticks = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

  test('grants each room what its rule here allows, and nothing else', () => {
    const told = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(
      ([, room = '', cell = '']) => [room, inBackticks(cell)] as const,
    )
    const lines = (rules: readonly (readonly [string, readonly string[]])[]): string[] =>
      rules.flatMap(([room, allowed]) => [room, ...allowed.map((name) => `${room} -> ${name}`)]).toSorted()
    expect([...new Set(lines(told))]).toEqual(lines(Object.entries(MAY_IMPORT)))
  })

  test('names everything that only looks', () => {
    const [, list = ''] = /^- What only looks \(([^)]+)\)/m.exec(section) ?? []
    expect(inBackticks(list).toSorted()).toEqual(MAY_NOT_WRITE.toSorted())
  })
})

describe('these rules refuse', () => {
  const imagined = (from: string, text: string): Import[] => importsIn(from, text)

  test('an import of a room above, also when it is dynamic', () => {
    expect(notAllowed(imagined('plan/plan.ts', "import { nginx } from '../nginx/local-edge.ts'"))).toHaveLength(1)
    expect(notAllowed(imagined('operate/serve.ts', "await import('../compose/assemble.ts')"))).toHaveLength(1)
  })

  test('a circle between folders whose files are no circle', () => {
    const there = imagined('edge/process/a.ts', "import { b } from '../reading/b.ts'")
    const back = imagined('edge/reading/c.ts', "import { d } from '../process/d.ts'")
    expect(circleIn([...there, ...back])).toBeUndefined()
    expect(circlesOfFolders([...there, ...back])).toEqual(['edge/: process -> reading -> process'])
  })

  test('a plan that holds something to write with', () => {
    const text = "import type { DnsProvider, DnsReader } from '../dns/contract.ts'"
    expect(writersHeld(imagined('observe/name-in-use.ts', text))).toEqual(['observe/name-in-use.ts has DnsProvider'])
  })
})

describe('the rule of time refuses', () => {
  test.each([
    "import { setTimeout as sleep } from 'node:timers/promises'",
    "import { scheduler } from 'timers/promises'",
    "import * as timers from 'node:timers'",
    "const { setInterval: every } = await import('node:timers')",
    "import { performance as watch } from 'node:perf_hooks'",
    'globalThis.setTimeout(call, 5)',
    "globalThis['setTimeout'](call, 5)",
    'const later = setTimeout',
    'await new Promise(setImmediate)',
    'socket.setTimeout(limitMs)',
    'connect({ host, port, timeout: PROBE_MS })',
    'const at = Date.now()',
    'const { now } = Date',
    'const at = new Date().toISOString()',
    'const at = new Date',
    'const at = Date()',
    'options.now ?? Date.now',
    'AbortSignal.timeout(5)',
    'const { timeout } = AbortSignal',
    'process.hrtime.bigint()',
    'const { uptime } = process',
    "import { systemClock } from '../primitives/clock.ts'",
    "import { systemClock as clock } from '../primitives/clock.ts'",
    "import { kernelTime } from '../primitives/clock.ts'",
  ])('%s', (text) => {
    expect(timeIn('runs/x.ts', text)).not.toEqual([])
    expect(timeIn(CLOCK, text)).toEqual([])
  })

  test.each([
    'new Date(clock.now()).toISOString()',
    'const at = Date.parse(text) - Date.UTC(2026, 0)',
    'interface Times { readonly notAfter: Date }',
    'AbortSignal.any([signal, clock.timeout(5)])',
    '// setTimeout would not do',
    "import { type Clock } from '../primitives/clock.ts'",
    "import { monitorEventLoopDelay } from 'node:perf_hooks'",
  ])('but not: %s', (text) => {
    expect(timeIn('runs/x.ts', text)).toEqual([])
  })
})

describe('effects', () => {
  test('sockets, programs and files are opened only where they belong', () => {
    const broken = all.filter(
      ({ from, to }) =>
        REACHING_OUT.test(to) && !MAY_REACH_OUT.some((rule) => covers(rule, from)) && !PURE_PARTS[from]?.includes(to),
    )
    expect(broken.map(shown)).toEqual([])
  })

  test('programs are started in one place, which gives them no secret of the environment', () => {
    const starters = all.filter(({ to }) => /^(?:node:)?child_process$/.test(to)).map(({ from }) => from)
    expect(starters).toEqual(['nginx/process/nginx-thread.ts'])
  })

  test('the client runs in browsers: it uses no module of Node', () => {
    const broken = all.filter(({ from, to }) => covers('client', from) && !to.endsWith('.ts') && to !== 'openapi-fetch')
    expect(broken.map(shown)).toEqual([])
  })

  test('time is given: one file names the clock and the timers of the machine', () => {
    expect(files.flatMap((file) => timeIn(file, textOf(file)))).toEqual([])
  })

  test('decisions use no clock and no randomness', () => {
    const impure = files
      .filter((file) => ['plan', 'diagnose', 'model', 'monitor/rounds/schedule.ts'].some((rule) => covers(rule, file)))
      .filter((file) => /Math\.random|randomBytes|randomInt|primitives\/clock/.test(textOf(file)))
    expect(impure).toEqual([])
  })

  test('the page is a client: of the service it uses the client, the model and pure rules', () => {
    const pages = readdirSync('web', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
    const ofOurs = pages.flatMap((file) => {
      const text = readFileSync(join('web', file), 'utf8')
      return [...text.matchAll(/from '([^']*\/src\/[^']+)'/g)].map(([, target = '']) =>
        target.replace(/^.*\/src\//, ''),
      )
    })
    const allowed = ['client', 'model', 'plan/settings.ts']
    expect(ofOurs.length).toBeGreaterThan(0)
    expect(ofOurs.filter((target) => !allowed.some((rule) => covers(rule, target)))).toEqual([])
  })
})

describe('tests', () => {
  const PAUSE = /await (?:sleep|delay|setTimeout|systemClock\.sleep)\(|waitFor(?:Timeout)\(/
  const names = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

  test('make no pauses: they wait until something holds', () => {
    expect(names.filter((name) => PAUSE.test(readFileSync(join('test', name), 'utf8')))).toEqual([])
  })

  test('have names of their own: no two files of one name', () => {
    const files = names.filter((name) => name.endsWith('.test.ts')).map((name) => basename(name))
    expect(files.filter((name, at) => files.indexOf(name) !== at)).toEqual([])
  })
})
