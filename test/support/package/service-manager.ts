import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Daemon, launchDaemon } from '../../../lab/daemon.ts'
import { asUnitSays, readUnit, type Unit } from './unit.ts'

const PORT = 4545
/** Passes what the maintainer scripts ask of systemd to the stand-in. */
const SYSTEMCTL = `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${PORT}
echo "$*" >&3
read -r code output <&3
[ -z "$output" ] || echo "$output"
exit "$code"
`

/**
 * Stands in for systemd, which cannot run here: starts and stops the units of a root as their files say, and answers the questions of
 * Debian's own helpers. It does not restart what ends.
 */
export class StandInSystemd {
  readonly #root: string
  readonly #logs: string
  readonly #running = new Map<string, Daemon>()
  readonly #asked: string[] = []
  #server: Server | undefined

  constructor(root: string, logs: string) {
    this.#root = root
    this.#logs = logs
  }

  /** Every verb with its units, in order. */
  get asked(): readonly string[] {
    return this.#asked
  }

  /** Puts `systemctl` into the root, and says that systemd runs there. */
  async install(): Promise<void> {
    writeFileSync(join(this.#root, 'usr/bin/systemctl'), SYSTEMCTL, { mode: 0o755 })
    this.#server = createServer((socket) => this.#serve(socket))
    await new Promise<void>((resolve) => this.#server?.listen(PORT, '127.0.0.1', resolve))
    this.boot()
  }

  /** What a new /run has. */
  boot(): void {
    mkdirSync(join(this.#root, 'run/systemd/system'), { recursive: true })
  }

  unit(name: string): Unit {
    return readUnit(join(this.#root, 'usr/lib/systemd/system', name))
  }

  pid(name: string): number {
    const daemon = this.#running.get(name)
    if (!daemon?.isAlive()) throw new Error(`${name} does not run. Its last output: ${daemon?.lastOutput() ?? 'none'}`)
    return daemon.pid
  }

  isActive(name: string): boolean {
    return this.#running.get(name)?.isAlive() === true
  }

  isEnabled(name: string): boolean {
    const link = join(this.#root, 'etc/systemd/system/multi-user.target.wants', name)
    return lstatSync(link, { throwIfNoEntry: false }) !== undefined
  }

  /** As systemd, does nothing if a condition of the unit does not hold. */
  async start(name: string): Promise<void> {
    const unit = this.unit(name)
    const isMet = unit.words('Unit.ConditionPathExists').every((path) => existsSync(join(this.#root, path)))
    if (!isMet || this.isActive(name)) return
    const command = unit.words('Service.ExecStart')
    const daemon = await launchDaemon({
      name,
      program: 'unshare',
      args: ['--mount', '--propagation', 'private', 'sh', '-c', asUnitSays(unit, this.#root, command)],
      logFile: join(this.#logs, `${name}.log`),
      killAfterMs: Number(unit.value('Service.TimeoutStopSec') ?? 90) * 1000,
    })
    this.#running.set(name, daemon)
  }

  async stop(name: string): Promise<void> {
    await this.#running.get(name)?.stop()
    this.#running.delete(name)
  }

  /** Stops everything, as for a reboot. */
  async stopAll(): Promise<void> {
    for (const name of [...this.#running.keys()]) await this.stop(name)
  }

  async close(): Promise<void> {
    await this.stopAll()
    this.#server?.close()
  }

  #serve(socket: Socket): void {
    socket.setEncoding('utf8')
    socket.on('error', () => undefined)
    socket.once('data', async (line: string) => {
      const [verb = '', ...units] = line
        .trim()
        .split(' ')
        .filter((word) => !word.startsWith('-'))
      const { code, output } = await this.#answer(verb, units)
      socket.end(`${code} ${output}\n`)
    })
  }

  #enable(unit: string): void {
    if (this.isEnabled(unit)) return
    const folder = join(this.#root, 'etc/systemd/system', `${this.unit(unit).value('Install.WantedBy')}.wants`)
    mkdirSync(folder, { recursive: true })
    symlinkSync(join('/usr/lib/systemd/system', unit), join(folder, unit))
  }

  async #answer(verb: string, units: readonly string[]): Promise<{ code: number; output: string }> {
    this.#asked.push([verb, ...units].join(' '))
    const all = (holds: (unit: string) => boolean) => units.every(holds)
    if (verb === 'is-active') return { code: all((unit) => this.isActive(unit)) ? 0 : 3, output: '' }
    if (verb === 'is-enabled') {
      const isEnabled = all((unit) => this.isEnabled(unit))
      return { code: isEnabled ? 0 : 1, output: isEnabled ? 'enabled' : 'disabled' }
    }
    for (const unit of units) {
      if (verb === 'stop') await this.stop(unit)
      if (verb === 'start') await this.start(unit)
      if (verb === 'preset' || verb === 'enable') this.#enable(unit)
    }
    return { code: 0, output: '' }
  }
}
