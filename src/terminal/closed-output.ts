/**
 * The reader of a pipe may stop early, as in `drawbridge status | head`. A command that only looks ends then, with the exit code that it
 * has. One that changes something goes on to its end: nobody asked for half of a change.
 */
export function outliveReader({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>, onlyLooks: boolean): void {
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    // A full disk is nothing that the reader wanted.
    if (code !== 'EPIPE') process.exitCode ||= 1
    if (onlyLooks) process.exit(process.exitCode ?? 0)
  })
  // What a command was asked for is on standard output.
  stderr.on('error', () => undefined)
}
