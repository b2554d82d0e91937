import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Endpoint } from './addresses.ts'
import { primaryConfig, secondaryConfig, type TsigKey, type Zone, zoneFile, zoneFileName } from './bind-config.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { answersForZone } from './dns-question.ts'
import { assertPortFree } from './free-port.ts'
import { canAnyoneEnter, findProgram, isRoot } from './program.ts'

const LOOPBACK = '127.0.0.1'

export interface BindOptions extends NameServerOptions {
  /** If set, a secondary runs on this port and follows the primary by NOTIFY and AXFR. */
  readonly secondaryPort?: number
}

export interface NameServerOptions {
  /** The folder of all files. Existing zones in it are kept with their changes. */
  readonly folder: string
  readonly port: number
  /** Default: 127.0.0.1. */
  readonly address?: string
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
  const at = (port: number) => ({ address: LOOPBACK, port })
  const notified = options.secondaryPort === undefined ? undefined : at(options.secondaryPort)
  const primary = await startPrimaryBind({ ...options, folder: join(folder, 'primary') }, notified)
  if (options.secondaryPort === undefined) {
    return { primary, pids: { primary: primary.pid }, stop: () => primary.stop() }
  }
  try {
    const follower = { ...options, folder: join(folder, 'secondary'), port: options.secondaryPort }
    const secondary = await startSecondaryBind(follower, at(options.port))
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

/** Starts a named that is the primary of the zones. `secondary`: the server that is notified of changes. */
export function startPrimaryBind(options: NameServerOptions, secondary: Endpoint | undefined): Promise<Daemon> {
  const { folder, zones } = options
  const owner = prepareFolder(folder)
  for (const zone of zones) {
    const file = join(folder, zoneFileName(zone))
    if (!existsSync(file)) writeOwned(file, zoneFile(zone, options.nameServers ?? [LOOPBACK, LOOPBACK]), owner)
  }
  writeOwned(join(folder, 'named.conf'), primaryConfig(options, secondary), owner)
  return startNamed('BIND (primary)', options, owner)
}

/** Starts a named that follows the primary by NOTIFY, by asking it every few seconds, and by AXFR. */
export function startSecondaryBind(options: NameServerOptions, primary: Endpoint): Promise<Daemon> {
  const owner = prepareFolder(options.folder)
  writeOwned(join(options.folder, 'named.conf'), secondaryConfig(options, primary), owner)
  return startNamed('BIND (secondary)', options, owner)
}

async function startNamed(
  name: string,
  { folder, port, address = LOOPBACK, zones }: NameServerOptions,
  owner: Owner | undefined,
): Promise<Daemon> {
  await assertPortFree(address, port, name)
  return startDaemon({
    name,
    program: findProgram('named', 'bind9'),
    args: ['-c', join(folder, 'named.conf'), '-g', '-n', '1', ...(owner ? ['-u', owner.user] : [])],
    logFile: join(folder, 'named.log'),
    isReady: async () =>
      (await Promise.all(zones.map((zone) => answersForZone(port, zone.name, address)))).every(Boolean),
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
