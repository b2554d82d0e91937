import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

/** One folder for everything temporary of all workers, so that nothing is left behind even if a worker is killed: no file, and no program. */
export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(process.env.CAMPAIGN ? tmpdir() : (memoryFolder() ?? tmpdir()), 'drawbridge-tests-'))
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  // The service and the commands are started hundreds of times: their code is compiled once. On a disk, each of the first processes
  // would need seconds at its end to write what it compiled.
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled')
  return async () => {
    const left = await endLeftProcesses(folder)
    if (left.length > 0) console.error(`Tests have left programs, which were ended:\n  ${left.join('\n  ')}`)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

const MEMORY = '/dev/shm'
/** Many times what all tests have at any time, which is 250 MB. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * Each change is made durable before it is told, and a disk takes milliseconds for that: the tests would wait for it half of their time.
 * Undefined where the machine has too little memory, or lets no program be run there. Campaigns use the disk.
 */
function memoryFolder(): string | undefined {
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, path, type]) => path === MEMORY && type === 'tmpfs')
  if (mount?.[3]?.split(',').some((option) => option === 'noexec' || option === 'ro') !== false) return undefined
  const { bavail, bsize } = statfsSync(MEMORY)
  const available = Number(/^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024
  return Math.min(bavail * bsize, available) >= ENOUGH_BYTES ? MEMORY : undefined
}

/**
 * Ends what still runs on files of this folder, and names it. Vitest gives a worker half a second to end and then kills it, so that on a
 * busy machine the worker may not come to stop the programs of its labs.
 */
async function endLeftProcesses(folder: string): Promise<readonly string[]> {
  const isOver = () => processesOn(folder).length === 0
  // Those of a worker that has just ended are ending.
  if (
    await until('the programs of the tests have ended', isOver, 5_000).then(
      () => true,
      () => false,
    )
  )
    return []
  const left = processesOn(folder)
  for (const { pid } of left) signal(pid, 'SIGTERM')
  await until('the programs that were left have ended', isOver, 5_000).catch(() => {
    for (const { pid } of processesOn(folder)) signal(pid, 'SIGKILL')
  })
  return left.map(({ command }) => command)
}

/** They name the folder in their command line, or have it in their environment, which some programs write over. */
function processesOn(folder: string): { readonly pid: number; readonly command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), command: textOf(name, 'cmdline'), environment: textOf(name, 'environ') }))
    .filter(({ command, environment }) => command.includes(`${folder}/`) || environment.includes(`TMPDIR=${folder} `))
}

/** Empty for one that has ended. */
function textOf(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
