import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endLeftProcesses } from './left-processes.ts'

/** One folder for everything temporary of all workers, so that nothing is left behind even if a worker is killed: no file, and no program. */
export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(process.env.CAMPAIGN ? tmpdir() : (memoryFolder() ?? tmpdir()), 'drawbridge-tests-'))
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
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
