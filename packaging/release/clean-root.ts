import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure, run } from '../files.ts'
import { machineSources } from '../rootfs.ts'

/** The oldest Debian whose own Node is new enough to begin with. */
const SUITE = 'trixie'
const INCLUDED = ['ca-certificates', 'git', 'nodejs', 'npm']
const READY = 'Drawbridge ready at '
/** Its end ends everything that was started in the root. */
const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
/** How long `npm start` may take on a machine that has nothing yet. */
const START_SECONDS = 600

/**
 * Carries out the two commands of CONTRIBUTING.md in a Debian that has nothing but git and npm, on a clone of the checkout: `npm start`
 * until the lab is ready, and all of `npm test`. It needs root, and the package sources and the npm settings of this machine.
 */
export async function tryTwoCommands(checkout: string, print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-clean-root-'))
  const root = join(folder, 'root')
  try {
    writeFileSync(join(folder, 'sources'), machineSources(SUITE))
    run('mmdebstrap', [
      '--variant=minbase',
      `--include=${INCLUDED.join(',')}`,
      '--quiet',
      SUITE,
      root,
      `${folder}/sources`,
    ])
    const settings = join(homedir(), '.npmrc')
    if (existsSync(settings)) cpSync(settings, join(root, 'root/.npmrc'))
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', checkout, join(root, 'root/drawbridge')])
    print('In a clean Debian: npm start')
    await untilReady(inside(root, 'npm start'))
    print('In a clean Debian: npm test')
    await ended(inside(root, 'npm test'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function inside(root: string, command: string): ChildProcess {
  const mounts = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t tmpfs tmpfs "$0/run"`
  const script = `${mounts} && cp /etc/resolv.conf "$0/etc/" && exec chroot "$0" sh -c 'cd /root/drawbridge && exec ${command}'`
  const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' }
  return spawn('unshare', [...NAMESPACES, 'sh', '-c', script, root], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment, LC_ALL: 'C.UTF-8' },
  })
}

async function untilReady(start: ChildProcess): Promise<void> {
  let printed = ''
  const over = new Promise<void>((resolve) => start.once('exit', () => resolve()))
  const ready = new Promise<void>((resolve) => {
    start.stdout?.on('data', (text) => {
      printed = `${printed}${text}`.slice(-4_000)
      if (printed.includes(READY)) resolve()
    })
  })
  await Promise.race([ready, over, new Promise((resolve) => setTimeout(resolve, START_SECONDS * 1000).unref())])
  start.kill('SIGKILL')
  await over
  if (!printed.includes(READY)) throw new Failure(`\`npm start\` was not ready in a clean Debian:\n${printed}`)
}

async function ended(test: ChildProcess): Promise<void> {
  let printed = ''
  test.stdout?.on('data', (text) => {
    printed = `${printed}${text}`.slice(-4_000)
  })
  const code = await new Promise((resolve) => test.once('exit', resolve))
  if (code !== 0) throw new Failure(`\`npm test\` ended with ${code} in a clean Debian:\n${printed}`)
}
