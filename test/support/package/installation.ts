import { Resolver } from 'node:dns/promises'
import { appendFileSync, chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressesAt, DEFAULT_PLACE, ZONE } from '../../../lab/addresses.ts'
import { startBackends } from '../../../lab/backends.ts'
import { startPrimaryBind } from '../../../lab/bind.ts'
import { type Daemon, launchDaemon } from '../../../lab/daemon.ts'
import { apiCertificateFile, startPebble } from '../../../lab/pebble.ts'
import { prepareState, type StatePaths, statePaths, tsigKey } from '../../../lab/state.ts'
import { httpStatus } from '../../../lab/web-question.ts'
import { until } from '../until.ts'
import type { Root } from './root.ts'
import type { StandInSystemd } from './service-manager.ts'
import type { Place } from './traffic.ts'

const ADDRESSES = addressesAt(DEFAULT_PLACE)
const EDGE = ADDRESSES.servers['23']
const API = `http://${EDGE}:8045`
const UNITS = ['drawbridge-edge.service', 'drawbridge.service']

/** Where the package is installed: a root, or a container. */
export type Machine = Pick<Root, 'at' | 'run'>

/** The network that an installation needs around it: BIND, Pebble and a backend. */
export class Surroundings {
  readonly #machine: Machine
  readonly #paths: StatePaths
  #bind: Daemon | undefined

  constructor(machine: Machine, state: string) {
    this.#machine = machine
    this.#paths = statePaths(state)
  }

  protected get folder(): string {
    return this.#paths.folder
  }

  async start(): Promise<void> {
    const paths = this.#paths
    prepareState(paths)
    await this.startDns()
    await startPebble({
      folder: paths.pebble,
      ...ADDRESSES.acme,
      dns: ADDRESSES.dns.primary,
      rootsFile: paths.ca,
      edgePorts: { http: 80, https: 443 },
    })
    await startBackends(ADDRESSES.backends, paths.backendsLog)
  }

  async startDns(): Promise<void> {
    const { address, port } = ADDRESSES.dns.primary
    const nameServers = [EDGE, ADDRESSES.servers['73']] as const
    const zones = [{ name: ZONE, records: [] }]
    const folder = join(this.#paths.folder, 'bind')
    const options = { folder, address, port, zones, tsig: tsigKey(this.#paths), nameServers }
    this.#bind = await startPrimaryBind(options, undefined)
  }

  async stopDns(): Promise<void> {
    await this.#bind?.stop()
  }

  /** Configures service and agent with `drawbridge init`. The DNS server has the key already, and Pebble's own root is not known. */
  async init() {
    const root = this.#machine
    const paths = this.#paths
    const [, uid, gid] = /^drawbridge:x:(\d+):(\d+):/m.exec(readFileSync(root.at('etc/passwd'), 'utf8')) ?? []
    const key = root.at('etc/drawbridge/tsig.key')
    writeFileSync(key, readFileSync(paths.tsigSecret, 'utf8'), { mode: 0o600 })
    chownSync(key, Number(uid), Number(gid))
    const { primary } = ADDRESSES.dns
    const { api } = ADDRESSES.acme
    const options = {
      zone: ZONE,
      'dns-server': `${primary.address}:${primary.port}`,
      address: EDGE,
      'internal-network': '127.0.0.0/8',
      target: `25=${ADDRESSES.servers['25']}`,
      'acme-directory': `https://${api.address}:${api.port}/dir`,
    }
    const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
    const ended = await this.drawbridge('init', '--agent', '--yes', ...given)
    copyFileSync(apiCertificateFile(paths.pebble), root.at('etc/drawbridge/acme-ca.pem'))
    appendFileSync(root.at('etc/drawbridge/drawbridge.yaml'), '  caFile: acme-ca.pem\n')
    return ended
  }

  async ready(): Promise<void> {
    await until('the service is ready', async () => (await httpStatus(`${API}/readyz`)) === 200)
  }

  /** Runs the installed command line. */
  drawbridge(...args: readonly string[]) {
    return this.#machine.run('drawbridge', ...args)
  }

  expose(host: string) {
    const target = ['--server', '25', '--port', '3000', '--health', '/healthz']
    return this.drawbridge('up', host, ...target, '--yes', '--url', API)
  }

  takeDown(host: string) {
    return this.drawbridge('down', host, '--yes', '--url', API)
  }

  place(host: string): Place {
    return { address: EDGE, host, ca: readFileSync(this.#paths.ca, 'utf8') }
  }

  /** Where the name points. Empty if it does not exist. */
  async addressesOf(host: string): Promise<string[]> {
    const { address, port } = ADDRESSES.dns.primary
    const resolver = new Resolver({ timeout: 1_000, tries: 2 })
    resolver.setServers([`${address}:${port}`])
    return resolver.resolve4(host).catch(() => [])
  }
}

/** A root with its nginx, in these surroundings. */
export class Installation extends Surroundings {
  readonly root: Root
  readonly systemd: StandInSystemd
  #nginx: Daemon | undefined

  constructor(root: Root, systemd: StandInSystemd, state: string) {
    super(root, state)
    this.root = root
    this.systemd = systemd
  }

  override async start(): Promise<void> {
    await super.start()
    await this.startNginx()
  }

  async startNginx(): Promise<void> {
    this.#nginx = await launchDaemon({
      name: 'nginx',
      program: '/usr/sbin/chroot',
      args: [this.root.path, 'nginx', '-g', 'daemon off;'],
      logFile: join(this.folder, 'nginx.log'),
    })
    const pidFile = this.root.at('run/nginx.pid')
    await until('nginx has written its pid file', () => (statSync(pidFile, { throwIfNoEntry: false })?.size ?? 0) > 0)
  }

  /** As a reboot does: everything ends, /run is empty, and what is enabled is started. */
  async reboot(): Promise<void> {
    await this.systemd.stopAll()
    await this.#nginx?.stop()
    this.root.emptyRun()
    this.systemd.boot()
    await this.startNginx()
    for (const unit of UNITS) if (this.systemd.isEnabled(unit)) await this.systemd.start(unit)
  }

  async startUnits(): Promise<void> {
    for (const unit of UNITS) await this.systemd.start(unit)
    await this.ready()
  }

  /** Whether nginx of the root would load its configuration. */
  async isNginxValid(): Promise<boolean> {
    return (await this.root.run('nginx', '-t')).code === 0
  }

  install(deb: string) {
    copyFileSync(deb, this.root.at('tmp/drawbridge.deb'))
    return this.root.run('dpkg', '-i', '/tmp/drawbridge.deb')
  }
}
