import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { primaryConfig, secondaryConfig, type TsigKey, type Zone, zoneFile, zoneFileName } from './bind-config.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { answersForZone } from './dns-question.ts'
import { assertPortFree } from './free-port.ts'
import { canAnyoneEnter, findProgram, isRoot } from './program.ts'

export interface BindOptions {
  /** The folder of all files. Existing zones in it are kept with their changes. */
  readonly folder: string
  readonly port: number
  /** If set, a secondary runs on this port and follows the primary by NOTIFY and AXFR. */
  readonly secondaryPort?: number
  readonly zones: readonly Zone[]
  /** Signs updates, transfers and notifications. */
  readonly tsig: TsigKey
  /** The addresses of ns1 and ns2 in every zone. */
  readonly nameServers?: readonly [string, string]
}

export interface Bind {
  readonly primary: Daemon
  readonly secondary?: Daemon
  readonly pids: { readonly primary: number; readonly secondary?: number }
  stop(): Promise<void>
}

/** Starts a real named on 127.0.0.1, and a secondary if `secondaryPort` is set. Resolves when they answer for every zone. */
export async function startBind(options: BindOptions): Promise<Bind> {
  const folder = resolve(options.folder)
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const primary = await startPrimary(options, join(folder, 'primary'))
  if (options.secondaryPort === undefined) {
    return { primary, pids: { primary: primary.pid }, stop: () => primary.stop() }
  }
  try {
    const secondary = await startSecondary(options, options.secondaryPort, join(folder, 'secondary'))
    return {
      primary,
      secondary,
      pids: { primary: primary.pid, secondary: secondary.pid },
      stop: async () => void (await Promise.all([primary.stop(), secondary.stop()])),
    }
  } catch (error) {
    await primary.stop()
    throw error
  }
}

function startPrimary(options: BindOptions, folder: string): Promise<Daemon> {
  const { port, zones, tsig } = options
  const owner = prepareFolder(folder)
  for (const zone of zones) {
    const file = join(folder, zoneFileName(zone))
    if (!existsSync(file)) writeOwned(file, zoneFile(zone, options.nameServers ?? ['127.0.0.1', '127.0.0.1']), owner)
  }
  writeOwned(join(folder, 'named.conf'), primaryConfig({ folder, port, zones, tsig }, options.secondaryPort), owner)
  return startNamed('BIND (primary)', folder, port, zones, owner)
}

function startSecondary(options: BindOptions, port: number, folder: string): Promise<Daemon> {
  const { zones, tsig } = options
  const owner = prepareFolder(folder)
  writeOwned(join(folder, 'named.conf'), secondaryConfig({ folder, port, zones, tsig }, options.port), owner)
  return startNamed('BIND (secondary)', folder, port, zones, owner)
}

async function startNamed(
  name: string,
  folder: string,
  port: number,
  zones: readonly Zone[],
  owner: Owner | undefined,
): Promise<Daemon> {
  await assertPortFree('127.0.0.1', port, name)
  return startDaemon({
    name,
    program: findProgram('named', 'bind9'),
    args: ['-c', join(folder, 'named.conf'), '-g', '-n', '1', ...(owner ? ['-u', owner.user] : [])],
    logFile: join(folder, 'named.log'),
    isReady: async () => (await Promise.all(zones.map((zone) => answersForZone(port, zone.name)))).every(Boolean),
  })
}

interface Owner {
  readonly user: string
  readonly uid: number
  readonly gid: number
}

/** named writes journals next to its zones, so its user must own the folder. */
function prepareFolder(folder: string): Owner | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const owner = isRoot() && canAnyoneEnter(dirname(folder)) ? bindUser() : undefined
  if (owner) chownSync(folder, owner.uid, owner.gid)
  return owner
}

function bindUser(): Owner {
  const id = (option: string) => Number(execFileSync('id', [option, 'bind'], { encoding: 'utf8' }))
  return { user: 'bind', uid: id('-u'), gid: id('-g') }
}

function writeOwned(file: string, text: string, owner: Owner | undefined): void {
  writeFileSync(file, text, { mode: 0o600 })
  if (owner) chownSync(file, owner.uid, owner.gid)
}
