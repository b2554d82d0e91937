import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { formatEndpoint } from '../../model/address.ts'
import { clauseOf } from '../../primitives/clause.ts'
import { confirm, UsageError } from '../../terminal/declare.ts'
import type { Screen } from '../../terminal/screen.ts'
import { type Ask, DEFAULTS, gatherSetup, type InitOptions } from './answers.ts'
import type { AskedNginx, ChosenListen, FoundNginx, InitParts, NginxPlace, UpdateKey } from './contract.ts'
import { agentFileBeside, GRANTED_TYPES, NEW_KEY_ALGORITHM, renderKeyHelp, type Setup, unifiedDiff } from './files.ts'
import { isThere, planFiles } from './planned.ts'
import { assertReadable } from './readable.ts'
import { standingSetup, type ZoneKey } from './standing.ts'
import { serveTestEntry } from './test-entry.ts'
import { hasAgentUnit, isBootedBySystemd } from './units.ts'
import { type NewFile, takenBack, writeFiles } from './writing.ts'

/** What there is already, and what is missing. */
interface Work {
  readonly found: FoundNginx
  readonly nginx: NginxPlace
  readonly zone: Pick<ZoneKey, 'name' | 'key' | 'keptIn'>
  readonly files: readonly NewFile[]
  /** The lines that say what is there already. */
  readonly standing: readonly string[]
  readonly chosen: readonly ChosenListen[]
  /** Whether the DNS server does not know the key yet. */
  readonly needsKey: boolean
  /** Whether nginx belongs to the agent, whose unit systemd has. */
  readonly hasUnits: boolean
  readonly isPrepared: boolean
  /** The server whose service a first host could have. */
  readonly backend: string
}

/**
 * Prepares this server for Drawbridge. Everything that can be refused is refused before anything is written. A second call finds
 * everything there and changes nothing.
 */
export async function init(options: InitOptions, parts: InitParts, screen: Screen, ask: Ask): Promise<void> {
  const work = await lookAround(options, parts, ask)
  screen.print(...foundLines(work.found), '', ...chosenLines(work.chosen), '', ...work.standing)
  const isDone = work.files.length === 0 && work.isPrepared
  if (isDone) {
    screen.print(...keyHelp(work), '', 'Everything is there already. Nothing was changed.')
    return screen.print(...nextLines(work, options))
  }
  screen.print(...work.files.flatMap(fileLines))
  if (options.dryRun) return screen.print(...dryKeyHelp(work), '', 'Dry run: nothing was written.')
  await confirm({ question: 'Write these files and reload nginx?', action: 'write them', yes: options.yes })
  const takeBack = await writeFiles(work, parts)
  const host = `drawbridge-rehearsal.${work.zone.name}`
  try {
    await parts.withEdge(work.nginx, (edge) => serveTestEntry(edge, host))
  } catch (error) {
    throw await takenBack('The rehearsal failed', error, takeBack)
  }
  screen.print('', `nginx served a test entry (${host}) and took it away again.`)
  screen.print(...keyHelp(work), ...nextLines(work, options))
}

const keyHelp = ({ zone, needsKey, nginx }: Work): string[] =>
  needsKey ? ['', ...renderKeyHelp({ ...zone, types: GRANTED_TYPES, address: nginx.address })] : []

/** A new secret is made by the call that writes it: one that is shown here would never be used. */
const dryKeyHelp = (work: Work): string[] =>
  work.zone.keptIn === undefined
    ? [
        '',
        `The key is made when the files are written. init then prints what to add to the DNS server of ${work.zone.name}.`,
      ]
    : keyHelp(work)

function nextLines({ hasUnits, zone, backend }: Work, { config, agent }: InitOptions): string[] {
  const up = `drawbridge up app.${zone.name} --server ${backend} --port 3000`
  const start = isBootedBySystemd()
    ? 'systemctl enable --now drawbridge-edge drawbridge'
    : 'restart this container, which then starts the agent and the service.'
  if (hasUnits) return ['', `Next: ${start}`, `Then, for a first host: ${up}`]
  return [
    '',
    'Next:',
    `  drawbridge doctor --config ${config}`,
    ...(agent ? [`  drawbridge edge --config ${agentFileBeside(dirname(config))}`] : []),
    `  drawbridge serve --config ${config}`,
  ]
}

/** Finds everything out, and refuses what cannot work. Writes nothing. */
async function lookAround(given: InitOptions, parts: InitParts, ask: Ask): Promise<Work> {
  const options = { ...given, agent: given.agent ?? hasAgentUnit() }
  const hasUnits = options.agent && hasAgentUnit()
  const file = resolve(options.config)
  const standing: string[] = []
  const existing = existsSync(file) ? standingSetup(file, options) : undefined
  const found = await parts.findNginx(existing?.nginx ?? askedNginx(options))
  if (found.master === undefined)
    throw new Error(`nginx does not run: ${found.pidFile} names no running nginx. Start nginx, and call init again.`)
  const setup = existing ? undefined : await gatherSetup(options, found, parts, ask)
  if (setup) assertReadable({ setup, file, hasKey: isThere(setup.keyFile), serviceUser: parts.serviceUser() })
  const nginx = existing?.nginx ?? setup?.nginx
  const zone = existing?.zone ?? (setup && newZone(setup))
  if (!nginx || !zone) throw new UsageError(`${file} has no edge of this server, or no zone with a key.`)
  const { missing, kept } = setup ? planFiles(setup, zone.key.secret, file) : { missing: [], kept: [] }
  const files = [...missing]
  standing.push(...kept.map((path) => `${path} is there already.`))
  if (existing) standing.push(`${file} is there already. It is not changed.`)
  await parts.assertAuthoritative(zone.name, zone.server)
  const main = parts.withInclude(found.main, nginx)
  const chosen = await parts.rehearse(nginx, main)
  if (hasUnits) await parts.rehearseAsUnit(nginx)
  if (main === found.main) standing.push(`${found.config} includes ${nginx.folder} already.`)
  else files.push({ path: found.config, before: found.main, after: main, mode: modeOf(found.config), secret: false })
  assertWritable([...files.map(({ path }) => path), join(nginx.folder, 'x')])
  const key = zone.keptIn === undefined ? undefined : await askedKey(parts, zone)
  if (key) standing.push(key.line)
  const isPrepared = parts.isPrepared(nginx)
  if (isPrepared) standing.push(`${nginx.folder} is prepared already.`)
  const backend = existing?.backend ?? [...(setup?.targets.keys() ?? []), nginx.server][0] ?? nginx.server
  const needsKey = key?.works !== true
  return { found, nginx, zone, files, standing, chosen, needsKey, hasUnits, isPrepared, backend }
}

const askedNginx = ({ nginx, nginxConfig, nginxPrefix }: InitOptions): AskedNginx => ({
  binary: nginx ?? DEFAULTS.nginx,
  config: nginxConfig,
  prefix: nginxPrefix,
})

/** A key that is there already, from an earlier call or from the administrator, is kept. */
function newZone({ zone, dnsServer, keyName, keyFile }: Setup): ZoneKey {
  const isNew = !isThere(keyFile)
  const secret = isNew ? randomBytes(32).toString('base64') : readFileSync(keyFile, 'utf8').trim()
  const key: UpdateKey = { name: keyName, algorithm: NEW_KEY_ALGORITHM, secret }
  return { name: zone, server: dnsServer, key, keptIn: isNew ? undefined : keyFile }
}

/** Whether the DNS server takes the key that is there already, and the line that says so. */
async function askedKey({ assertKeyWorks }: InitParts, { name, server, key }: ZoneKey) {
  const at = formatEndpoint(server)
  return assertKeyWorks(name, server, key).then(
    () => ({ works: true, line: `The DNS server at ${at} takes updates of ${name} with the key ${key.name}.` }),
    (error: unknown) => ({
      works: false,
      line: `The DNS server at ${at} does not take updates of ${name} with the key ${key.name} yet: ${clauseOf(error)}.`,
    }),
  )
}

/** The files and folders must be possible before the first is written. */
function assertWritable(paths: readonly string[]): void {
  for (const path of paths) {
    let folder = dirname(path)
    while (!existsSync(folder)) folder = dirname(folder)
    try {
      accessSync(folder, constants.W_OK)
    } catch {
      throw new Error(`${folder} cannot be written by this user. Run init as root. Nothing was written.`)
    }
  }
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

function foundLines({ binary, version, config, includes, servers, listens, master }: FoundNginx): string[] {
  return [
    `Found nginx ${version} (${binary}), running with pid ${master}.`,
    `  ${config} includes ${includes.length === 0 ? 'no other files' : includes.join(', ')}.`,
    `  Servers: ${servers}.`,
    ...listens.map(
      ({ place, servers: count, defaultServer: { path, line, isExplicit } }) =>
        `  ${place}: ${count}, default server in ${path}, line ${line}${isExplicit ? '' : ' (the first one)'}.`,
    ),
  ]
}

const chosenLines = (chosen: readonly ChosenListen[]): string[] =>
  chosen.map(({ place, isShared }) =>
    isShared
      ? `Drawbridge listens on ${place} beside the servers there. Their default server and TLS settings stay.`
      : `Drawbridge listens on ${place}, where nobody else listens, and refuses unknown names there.`,
  )

function fileLines({ path, before, after, secret }: NewFile): string[] {
  if (secret) return ['', `New file ${path} (mode 0600): the secret of the key.`]
  if (before === null)
    return [
      '',
      `New file ${path}:`,
      ...after
        .trimEnd()
        .split('\n')
        .map((line) => `  ${line}`),
    ]
  return ['', `Change of ${path}:`, ...unifiedDiff(path, before, after)]
}
