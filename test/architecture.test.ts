import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * Who may import whom, by folder or file of src/. What is not listed for a folder it may not import; its own folder it
 * always may. This is the house's plan as the code must keep it.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  model: [],
  plan: ['model'],
  diagnose: ['model'],
  'fair-clock.ts': [],
  dns: ['model', 'fair-clock.ts'],
  edge: ['model', 'fair-clock.ts'],
  certificates: ['model', 'dns/contract.ts'],
  store: ['model', 'audit/chain.ts'],
  audit: ['model', 'store/contract.ts'],
  observe: [
    'model',
    'fair-clock.ts',
    'plan',
    'dns/contract.ts',
    'edge/contract.ts',
    'edge/reading/contract.ts',
    'certificates',
    'store/contract.ts',
  ],
  authorize: ['model', 'store/contract.ts'],
  'followers.ts': [],
  notify: ['model', 'store/contract.ts', 'followers.ts', 'log.ts'],
  config: ['model'],
  'log.ts': ['config/secret.ts', 'authorize/capability.ts'],
  apply: [
    'model',
    'audit',
    'store/contract.ts',
    'store/each-exposure.ts',
    'dns/contract.ts',
    'edge/contract.ts',
    'certificates/contract.ts',
    'certificates/renewal-schedule.ts',
    'log.ts',
  ],
  monitor: [
    'model',
    'store/contract.ts',
    'store/each-exposure.ts',
    'edge/contract.ts',
    'edge/reading/contract.ts',
    'apply/held-lease.ts',
    'log.ts',
  ],
  metrics: ['model'],
  'progress.ts': ['model', 'apply', 'store/contract.ts', 'followers.ts'],
  'equip.ts': ['*'],
  'exposer.ts': ['model', 'plan', 'authorize', 'audit', 'apply', 'progress.ts', 'store/contract.ts'],
  'diagnoser.ts': [
    'model',
    'diagnose',
    'observe',
    'authorize',
    'edge/contract.ts',
    'edge/reading/contract.ts',
    'store/contract.ts',
  ],
  'policy.ts': ['model', 'plan', 'config', 'authorize', 'http/schemas.ts'],
  http: [
    'model',
    'plan',
    'authorize',
    'audit',
    'store/contract.ts',
    'exposer.ts',
    'diagnoser.ts',
    'diagnose',
    'progress.ts',
    'followers.ts',
    'notify/feed.ts',
    'notify/report.ts',
    'monitor',
    'metrics',
    'apply',
    'log.ts',
  ],
  ops: [
    'notify',
    'model',
    'audit',
    'authorize',
    'apply',
    'edge/contract.ts',
    'store/contract.ts',
    'dns/contract.ts',
    'certificates/contract.ts',
    'config',
    'http',
    'log.ts',
    'policy.ts',
    'terminal',
    'cli/ask.ts',
    'cli/usage.ts',
    'main.ts',
    'doctor-parts.ts',
  ],
  terminal: [],
  client: [],
  cli: ['terminal', 'client', 'config/document.ts', 'mcp', 'version.ts'],
  mcp: ['client', 'model', 'plan/desire.ts'],
  'version.ts': [],
  'doctor-parts.ts': ['*'],
  'diagnoser-parts.ts': ['*'],
  'monitor-parts.ts': ['*'],
  'name-standing.ts': ['*'],
  'main.ts': ['*'],
  'command-line.ts': ['*'],
}

/** Only these may open sockets, start programs or write files. */
const MAY_REACH_OUT = [
  'dns',
  'edge',
  'certificates',
  'observe/health-probe.ts',
  'observe/tcp-probe.ts',
  'store/dialects',
  'http',
  'notify/send.ts',
  'ops',
  'config',
  'cli/address.ts',
  'main.ts',
]
const REACHING_OUT =
  /^(?:node:)?(?:child_process|net|dgram|tls|http|https|http2|fs|fs\/promises|dns)$|^undici$|^pg$|^better-sqlite3$/
/** Of these modules planning and the model use the pure parts only. */
const PURE_PARTS: Record<string, readonly string[]> = { 'model/address.ts': ['node:net'] }

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

interface Import {
  readonly from: string
  readonly to: string
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join('src', file), 'utf8')
  const statements = text.matchAll(/^(?:import|export)\s+(?:type\s+)?(?:[\w*\s{},$]*?\sfrom\s+)?'([^']+)'/gm)
  return [...statements].map(([, target = '']) => ({
    from: file,
    to: target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
  }))
}

const all = files.flatMap(importsOf)
const ours = all.filter(({ to }) => to.endsWith('.ts'))
const houseOf = (file: string): string => file.split('/')[0] ?? file
const covers = (rule: string, file: string): boolean => rule === '*' || file === rule || file.startsWith(`${rule}/`)

describe('the house', () => {
  test('every folder and file at the top has its rule', () => {
    expect([...new Set(files.map(houseOf))].filter((house) => !(house in MAY_IMPORT))).toEqual([])
  })

  test('nobody imports what the plan of the house does not allow', () => {
    const broken = ours.filter(({ from, to }) => {
      const allowed = [houseOf(from), ...(MAY_IMPORT[houseOf(from)] ?? [])]
      return !allowed.some((rule) => covers(rule, to))
    })
    expect(broken.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('there are no import circles', () => {
    const next = Map.groupBy(ours, ({ from }) => from)
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) throw new Error(`circle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`)
      if (done.has(file)) return
      for (const { to } of next.get(file) ?? []) visit(to, [...path, file])
      done.add(file)
    }
    for (const file of files) visit(file, [])
    expect(done.size).toBe(files.length)
  })

  test('sockets, programs and files are opened only where they belong', () => {
    const broken = all.filter(
      ({ from, to }) =>
        REACHING_OUT.test(to) && !MAY_REACH_OUT.some((rule) => covers(rule, from)) && !PURE_PARTS[from]?.includes(to),
    )
    expect(broken.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('programs are started in one place, which gives them no secret of the environment', () => {
    const starters = all.filter(({ to }) => /^(?:node:)?child_process$/.test(to)).map(({ from }) => from)
    expect(starters).toEqual(['edge/nginx-thread.ts'])
  })

  test('the client runs in browsers, too: it knows no module of Node', () => {
    const broken = all.filter(({ from, to }) => covers('client', from) && !to.endsWith('.ts') && to !== 'openapi-fetch')
    expect(broken.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('deciding knows no clock and no chance', () => {
    const impure = files
      .filter((file) => ['plan', 'diagnose', 'model'].some((house) => covers(house, file)))
      .filter((file) =>
        /Date\.now|new Date\(\)|performance\.now|Math\.random|randomBytes|randomInt|setTimeout/.test(
          readFileSync(join('src', file), 'utf8'),
        ),
      )
    expect(impure).toEqual([])
  })

  test('the page is a client: of the service it has the client, the words and the rules that are pure', () => {
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
