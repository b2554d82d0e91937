import { execFileSync } from 'node:child_process'
import { Failure } from './files.ts'

/** Seconds since 1970 for the files of a build: SOURCE_DATE_EPOCH, or the time of the commit. */
export function sourceDate(checkout: string): number {
  const given = process.env.SOURCE_DATE_EPOCH ?? commitTime(checkout)
  if (given === undefined || !/^\d{1,12}$/.test(given))
    throw new Failure(
      'The time of the files is not known. Build in a git checkout, or set SOURCE_DATE_EPOCH to seconds.',
    )
  return Number(given)
}

function commitTime(checkout: string): string | undefined {
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], {
      ...{ cwd: checkout, encoding: 'utf8' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}
