import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Instance {
  readonly name: string
  readonly pid: number
  readonly born: string
}

/**
 * The name of this instance, kept in its state folder: after a crash it may take up its own runs at once, its leases still
 * standing. While another program that uses the same folder lives, it gets a name of its own.
 */
export function claimInstanceName(stateDir: string): string {
  const file = join(stateDir, 'instance.json')
  const earlier = readInstance(file)
  if (earlier && bornOf(earlier.pid) === earlier.born) return newName()
  const instance: Instance = { name: earlier?.name ?? newName(), pid: process.pid, born: bornOf(process.pid) ?? '' }
  writeFileSync(file, JSON.stringify(instance), { mode: 0o600 })
  return instance.name
}

const newName = (): string => `instance-${randomBytes(8).toString('hex')}`

function readInstance(file: string): Instance | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Instance
  } catch {
    return undefined
  }
}

/** When a process was started, in the kernel's ticks: with its pid it is one process for certain. A dead one that nobody fetched was never. */
function bornOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
