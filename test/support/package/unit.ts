import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** What a unit file says, by section and name. A list has all its words; an empty assignment clears what came before. */
export interface Unit {
  readonly name: string
  /** The words of `Section.Name`. Empty if it is not set. */
  words(setting: string): readonly string[]
  /** The last value of `Section.Name`. */
  value(setting: string): string | undefined
}

export function readUnit(file: string): Unit {
  const values = new Map<string, string[]>()
  let section = ''
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, heading] = /^\[(\w+)\]$/.exec(line) ?? []
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (heading !== undefined) section = heading
    if (name === undefined || value === undefined) continue
    const key = `${section}.${name}`
    values.set(key, value === '' ? [] : [...(values.get(key) ?? []), value])
  }
  return {
    name: basename(file),
    words: (setting) => (values.get(setting) ?? []).flatMap((value) => value.split(/\s+/)),
    value: (setting) => values.get(setting)?.at(-1),
  }
}

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * A shell script that runs a command in a root as the unit says: user and group, capabilities, no new privileges, umask, and in a mount
 * namespace of its own ProtectSystem=strict with the paths that may be written, ProtectHome, PrivateTmp, PrivateDevices, ProtectProc.
 * Filters of system calls and address families need systemd; they are not enforced here.
 */
export function asUnitSays(unit: Unit, root: string, command: readonly string[]): string {
  if (unit.value('Service.ProtectSystem') !== 'strict') throw new Error(`${unit.name}: ProtectSystem is not strict.`)
  const at = (path: string) => quoted(join(root, path))
  const writable = writablePaths(unit, root)
  const lines = ['set -e', ...writable.map((path) => `mount --bind ${at(path)} ${at(path)}`)]
  if (!writable.includes('/run')) lines.push(`mount -o remount,bind,ro ${at('/run')}`)
  lines.push(`mount -o remount,bind,ro ${quoted(root)}`)
  if (unit.value('Service.PrivateTmp') === 'yes')
    for (const path of ['/tmp', '/var/tmp']) lines.push(`mount -t tmpfs -o mode=1777 tmpfs ${at(path)}`)
  if (unit.value('Service.ProtectHome') === 'yes')
    for (const path of ['/home', '/root']) lines.push(`mount -t tmpfs -o mode=000,ro tmpfs ${at(path)}`)
  if (unit.value('Service.PrivateDevices') === 'yes') lines.push(...privateDevices(root))
  if (unit.value('Service.ProtectProc') === 'invisible')
    lines.push(`mount -t proc -o hidepid=invisible proc ${at('/proc')}`)
  const umask = unit.value('Service.UMask') ?? '0022'
  const begin = ['env', '-i', `PATH=${PATH}`, ...privileges(unit), 'sh', '-c', `umask ${umask}; exec "$@"`, 'sh']
  lines.push(`exec chroot ${quoted(root)} ${[...begin, ...command].map(quoted).join(' ')}`)
  return lines.join('\n')
}

/** Of the paths that a unit may write, those that exist. systemd makes those of StateDirectory; the package has made them already. */
function writablePaths(unit: Unit, root: string): string[] {
  const state = unit.words('Service.StateDirectory').map((name) => `/var/lib/${name}`)
  return [...unit.words('Service.ReadWritePaths'), ...state].flatMap((path) => {
    const isOptional = path.startsWith('-')
    const plain = isOptional ? path.slice(1) : path
    if (existsSync(join(root, plain))) return [plain]
    if (isOptional) return []
    throw new Error(`${unit.name}: ${plain} does not exist, so systemd would not start the unit.`)
  })
}

function privateDevices(root: string): string[] {
  const folder = join(root, 'dev')
  const bind = (name: string) => [
    `touch ${quoted(join(folder, name))}`,
    `mount --bind ${quoted(join('/dev', name))} ${quoted(join(folder, name))}`,
  ]
  return [`mount -t tmpfs -o mode=755 tmpfs ${quoted(folder)}`, ...DEVICES.flatMap(bind)]
}

function privileges(unit: Unit): string[] {
  const user = unit.value('Service.User') ?? 'root'
  const group = unit.value('Service.Group') ?? user
  const capabilities = unit
    .words('Service.CapabilityBoundingSet')
    .map((name) => `+${name.replace('CAP_', '').toLowerCase()}`)
  const set = ['-all', ...capabilities].join(',')
  const privilege = unit.value('Service.NoNewPrivileges') === 'yes' ? ['--no-new-privs'] : []
  return [
    'setpriv',
    '--reuid',
    user,
    '--regid',
    group,
    '--init-groups',
    '--inh-caps=-all',
    `--bounding-set=${set}`,
    ...privilege,
  ]
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
