import { readFileSync } from 'node:fs'
import { writeFileAtomically } from './state.ts'

/** A process is itself as long as its id and the moment it began are the same: ids are given out again. */
interface RecordedProcess {
  readonly name: string
  readonly pid: number
  readonly startedAt: string
}

export function recordProcesses(file: string, pids: Readonly<Record<string, number>>): void {
  const processes = Object.entries(pids).map(([name, pid]) => ({ name, pid, startedAt: startOf(pid) }))
  writeFileAtomically(file, `${JSON.stringify(processes, null, 2)}\n`, 0o600)
}

/** Throws when a lab runs on this state, or when one that ended badly left processes behind. */
export function assertNothingLeft(file: string, state: string): void {
  const alive = recordedIn(file).filter(({ pid, startedAt }) => startedAt !== undefined && startOf(pid) === startedAt)
  const lab = alive.find(({ name }) => name === 'lab')
  if (lab) throw new Error(`A lab already runs on ${state} (pid ${lab.pid}): stop it with \`kill ${lab.pid}\` first.`)
  if (alive.length === 0) return
  const names = alive.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ')
  const command = `kill ${alive.map(({ pid }) => pid).join(' ')}`
  throw new Error(
    `An earlier lab on ${state} left processes behind: ${names}. Stop them with \`${command}\` and start again.`,
  )
}

function recordedIn(file: string): RecordedProcess[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return []
  }
}

/**
 * In clock ticks since the machine started; undefined when it has ended, even if nobody has taken note of its end yet. The
 * columns are those of proc(5)'s stat, counted after the program's name: the third, state, and the 22nd, starttime.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const columns = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return columns[0] === 'Z' ? undefined : columns[19]
  } catch {
    return undefined
  }
}
