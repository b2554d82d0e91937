import { execFileSync } from 'node:child_process'
import type { Command } from '../lab/enrolment.ts'
import { findProgram } from '../lab/program.ts'

/**
 * The command that runs a program as a user, by the numbers of user and group, without any capability. It keeps the process id. Names
 * would not do: a machine loses its own /etc/passwd when somebody replaces that of the host.
 */
export const asUser = (user: number, group: number, { program, args }: Command): Command => ({
  program: findProgram('setpriv', 'util-linux'),
  args: [
    `--reuid=${user}`,
    `--regid=${group}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--bounding-set=-all',
    '--no-new-privs',
    '--',
    program,
    ...args,
  ],
})

/** `-u`: the id of a user. `-g`: the id of the user's group. */
export const idOf = (user: string, option: '-u' | '-g'): number =>
  Number(execFileSync('id', [option, user], { encoding: 'utf8' }))
