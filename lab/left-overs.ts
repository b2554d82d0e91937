import { readFileSync } from 'node:fs'
import { writeFileAtomically } from './state.ts'

/** A process is identified by its id and its start time, because the kernel reuses ids. */
interface RecordedProcess {
  readonly name: string
  readonly pid: number
  readonly startedAt: string
}

export function recordProcesses(file: string, pids: Readonly<Record<string, number>>): void {
  const processes = Object.entries(pids).map(([name, pid]) => ({ name, pid, startedAt: startOf(pid) }))
  writeFileAtomically(file, `${JSON.stringify(processes, null, 2)}\n`, 0o600)
}

/** Throws when a lab runs on this state, or when an earlier lab left processes running. */
export function assertNothingLeft(file: string, state: string): void {
  const alive = recordedIn(file).filter(({ pid, startedAt }) => startedAt !== undefined && startOf(pid) === startedAt)
  const lab = alive.find(({ name }) => name === 'lab')
  if (lab) throw new Error(`A lab already runs on ${state} (pid ${lab.pid}). Stop it with \`kill ${lab.pid}\` first.`)
  if (alive.length === 0) return
  const names = alive.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ')
  const command = `kill ${alive.map(({ pid }) => pid).join(' ')}`
  throw new Error(
    `An earlier lab on ${state} left processes running: ${names}. Stop them with \`${command}\` and start again.`,
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
 * The start time in clock ticks since boot; undefined when the process has ended. A zombie process counts as ended. The
 * columns are state and starttime of `stat` in proc(5), counted after the name of the program.
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
