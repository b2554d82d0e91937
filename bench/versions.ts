import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { checkout } from '../lab/checkout.ts'
import { programOf } from './programs.ts'

/** What was measured with what, one fact per line. */
export function versions(): string[] {
  const commit = output('git', ['-C', checkout(), 'rev-parse', '--short', 'HEAD'], /\S+/) ?? 'unknown'
  return [
    `Drawbridge at commit ${commit}`,
    `Node ${process.versions.node}`,
    `nginx ${versionOf('nginx', ['-v'], /nginx\/(\S+)/)}`,
    `Caddy ${versionOf('caddy', ['version'], /(\d\S+)/)}`,
    `wrk ${versionOf('wrk', ['-v'], /wrk (\S+)/)}`,
    `${cpus().length} CPUs`,
  ]
}

function versionOf(name: string, args: readonly string[], pattern: RegExp): string {
  const program = programOf(name)
  return (program && output(program, args, pattern)) ?? 'not installed'
}

/** wrk and nginx print their version on standard error, and wrk exits with 1. */
function output(program: string, args: readonly string[], pattern: RegExp): string | undefined {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  const match = pattern.exec(`${stdout ?? ''}${stderr ?? ''}`)
  return match?.[1] ?? match?.[0]
}
