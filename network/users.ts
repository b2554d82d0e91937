import { execFileSync } from 'node:child_process'
import { findProgram } from '../lab/program.ts'

/** The command that runs a program as a user with the user's groups. It keeps the process id. */
export const asUser = (user: string, program: string, args: readonly string[]) => ({
  program: findProgram('setpriv', 'util-linux'),
  args: [`--reuid=${user}`, `--regid=${user}`, '--init-groups', '--', program, ...args],
})

/** `-u`: the id of a user. `-g`: the id of the user's group. */
export const idOf = (user: string, option: '-u' | '-g'): number =>
  Number(execFileSync('id', [option, user], { encoding: 'utf8' }))
