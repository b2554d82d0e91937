import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cleanRoot, type Suite } from '../package/clean-root.ts'
import type { Ended } from '../package/root.ts'
import { type TempFolder, tempFolder } from '../temp-folder.ts'
import { until } from '../until.ts'

/** What a server of somebody has, and the parts that stand around Drawbridge. */
const PACKAGES = [
  ...['systemd', 'systemd-sysv', 'dbus', 'logrotate', 'iproute2', 'procps', 'curl', 'openssl', 'ca-certificates'],
  ...['bind9', 'bind9-dnsutils', 'pebble', 'busybox'],
]
/** Debian's nginx, to be installed once more. */
const NGINX = ['nginx', 'nginx-common']
/** A process namespace whose first process is killed with this one ends everything that runs in the machine. */
const NAMESPACES = ['--mount', '--pid', '--net', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const ENVIRONMENT = [`PATH=${PATH}`, 'HOME=/root', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C.UTF-8']
/** How systemd-nspawn ends when the machine asked for a reboot. */
const REBOOT = 133

/**
 * The network stays when the machine boots again, as its cables do. The mounts are private, so they end with the last process. cgroup2 is
 * mounted anew because a container needs it writable; systemd-nspawn writes into /run.
 */
const BOOT = `set -e
ip link set lo up
mount -t overlay -o "lowerdir=$LOWER,upperdir=$FOLDER/upper,workdir=$FOLDER/work" overlay "$FOLDER/root"
mount -t tmpfs tmpfs /run
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p "/sys/fs/cgroup/$CGROUP"
echo $$ >"/sys/fs/cgroup/$CGROUP/cgroup.procs"
while :; do
  code=0
  systemd-nspawn --boot --quiet -D "$FOLDER/root" --machine=debian --network-namespace-path=/proc/self/ns/net --capability=CAP_NET_ADMIN \\
    --register=no --keep-unit --console=read-only || code=$?
  [ "$code" = ${REBOOT} ] || exit "$code"
done
`
const CLEAN = `umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
cd /sys/fs/cgroup && find "$CGROUP" -depth -type d -exec rmdir {} +
`

interface RunOptions {
  /** What the command reads. Default: nothing. */
  readonly input?: string | Buffer
  readonly seconds?: number
  /** What is typed when a question is asked: parts of the questions, and the answers, in order. */
  readonly answers?: readonly (readonly [string, string])[]
}

/** A booted Debian system with a real systemd and a network of its own. Its end leaves no process, mount or folder behind. */
export class Machine implements AsyncDisposable {
  readonly #folder: TempFolder
  readonly #supervisor: ChildProcess
  #leader = 0

  private constructor(lower: string) {
    this.#folder = tempFolder()
    for (const name of ['upper', 'work', 'root']) mkdirSync(join(this.#folder.path, name), { mode: 0o755 })
    const environment = { PATH, LOWER: lower, FOLDER: this.#folder.path, CGROUP: this.#cgroup }
    // The kernel ends the machine with the test, however that ends.
    const args = ['--pdeathsig', 'KILL', 'unshare', ...NAMESPACES, 'sh', '-c', BOOT]
    this.#supervisor = spawn('setpriv', args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#supervisor.stdout?.on('data', (text) => this.#print(text))
    this.#supervisor.stderr?.on('data', (text) => this.#print(text))
  }

  #console = ''
  #print(text: Buffer): void {
    this.#console = `${this.#console}${text}`.slice(-4_000)
  }

  get #cgroup(): string {
    return basename(this.#folder.path)
  }

  /** `more`: packages beside the usual ones, in a root of this kind. */
  static async boot(
    suite: Suite,
    more?: { readonly kind: string; readonly packages: readonly string[] },
  ): Promise<Machine> {
    const packages = [...PACKAGES, ...(more?.packages ?? [])]
    const machine = new Machine(await cleanRoot(suite, more?.kind ?? 'machine', packages, NGINX))
    try {
      await machine.#booted()
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
    return machine
  }

  async #booted(former = 0): Promise<void> {
    await until(
      'the machine has booted',
      async () => {
        if (this.#supervisor.exitCode !== null) throw new Error(`The machine did not boot:\n${this.#console}`)
        this.#leader = this.#findLeader()
        if (this.#leader === 0 || this.#leader === former) return false
        const { output } = await this.run('systemctl', 'is-system-running')
        return /^(running|degraded)/.test(output)
      },
      90_000,
    )
  }

  /** The first process of the machine, below setpriv (which becomes unshare), its shell and systemd-nspawn. */
  #findLeader(): number {
    const childOf = (pid: number): number => {
      const path = `/proc/${pid}/task/${pid}/children`
      try {
        return Number(readFileSync(path, 'utf8').trim().split(' ')[0])
      } catch {
        return 0
      }
    }
    const shell = childOf(this.#supervisor.pid ?? 0)
    const nspawn = shell && childOf(shell)
    return nspawn && childOf(nspawn)
  }

  /** Lays a cable to another machine: an interface on each of them. It stays when one of them boots again. */
  async cable(name: string, other: Machine, itsName: string): Promise<void> {
    const link = ['ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', itsName, 'netns', String(other.#leader)]
    const child = spawn('nsenter', ['--target', String(this.#leader), '--net', '--', ...link], { stdio: 'inherit' })
    const code = await new Promise((resolve) => child.once('exit', resolve))
    if (code !== 0) throw new Error(`There is no cable ${name}: ip ended with ${code}.`)
  }

  /** Runs a program inside as root, as a login shell would. */
  run(...command: readonly string[]): Promise<Ended> {
    return this.runWith({}, ...command)
  }

  /** Runs a script inside. */
  sh(script: string, options: RunOptions = {}): Promise<Ended> {
    return this.runWith(options, 'sh', '-c', script)
  }

  runWith({ input, seconds = 120, answers = [] }: RunOptions, ...command: readonly string[]): Promise<Ended> {
    // Ended from inside: what nsenter has begun outlives nsenter.
    const limited = ['timeout', '--kill-after=5', String(seconds), ...command]
    const inside = ['--target', String(this.#leader), '--all', '--', 'env', '-i', ...ENVIRONMENT, ...limited]
    const child = spawn('nsenter', inside)
    const waiting = [...answers]
    let [output, told] = ['', 0]
    const take = (text: Buffer) => {
      output += text
      const [question, answer] = waiting[0] ?? ['']
      if (answer === undefined || !output.slice(told).includes(question)) return
      waiting.shift()
      told = output.length
      child.stdin.write(`${answer}\n`)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.stdin.on('error', () => undefined)
    if (answers.length === 0) child.stdin.end(input ?? '')
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve({ code: code ?? 128, output: `${output}${signal ?? ''}` }))
    })
  }

  /** Runs a command on a terminal, and answers its questions. */
  onTerminal(command: string, answers: readonly (readonly [string, string])[]): Promise<Ended> {
    return this.runWith({ answers }, 'script', '--quiet', '--return', '--command', command, '/dev/null')
  }

  /** The output of a command that must succeed. */
  async done(script: string, options: RunOptions = {}): Promise<string> {
    const { code, output } = await this.sh(script, options)
    if (code !== 0) throw new Error(`\`${script}\` ended with ${code}:\n${output}`)
    return output
  }

  /** Writes a file inside. */
  async write(path: string, text: string, mode = '0644'): Promise<void> {
    await this.done(`mkdir -p "$(dirname '${path}')" && cat >'${path}' && chmod ${mode} '${path}'`, { input: text })
  }

  /** Copies a file of this machine into the other one. */
  async copyIn(file: string, path: string): Promise<void> {
    await this.done(`cat >'${path}'`, { input: readFileSync(file) })
  }

  async read(path: string): Promise<string> {
    return this.done(`cat '${path}'`)
  }

  async reboot(): Promise<void> {
    const former = this.#leader
    await this.run('systemctl', 'reboot')
    await this.#booted(former)
  }

  /** As when the power fails: nothing is told to anybody. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#supervisor.exitCode === null && this.#supervisor.signalCode === null) {
      const ended = new Promise((resolve) => this.#supervisor.once('exit', resolve))
      this.#supervisor.kill('SIGKILL')
      await ended
    }
    const cleaning = ['--mount', '--propagation', 'private', 'sh', '-c', CLEAN]
    await until('the control group of the machine is gone', async () => {
      const child = spawn('unshare', cleaning, { env: { PATH, CGROUP: this.#cgroup }, stdio: 'ignore' })
      return (await new Promise((resolve) => child.once('exit', resolve))) === 0
    })
    this.#folder[Symbol.dispose]()
  }
}
