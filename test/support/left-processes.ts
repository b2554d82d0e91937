import { readdirSync, readFileSync } from 'node:fs'
import { until } from './until.ts'

/**
 * Ends what still runs on files of this folder, and names it. Vitest gives a worker half a second to end and then kills it, so that on a
 * busy machine the worker may not come to stop the programs of its labs.
 */
export async function endLeftProcesses(folder: string): Promise<readonly string[]> {
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
