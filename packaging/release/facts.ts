import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJson } from '../files.ts'
import type { Facts } from './conditions.ts'
import { MUST_HOLD } from './must-hold.ts'

/** What a campaign tries. A change elsewhere does not make its run worthless. */
const PRODUCT = ['src', 'web', 'packaging', 'bin/bundle-service.mjs', 'bin/drawbridge', 'package-lock.json']
/** These decide on a release, and are in no package. */
const BESIDE = [':!packaging/release']

/** What the files of a checkout and git say. */
export function factsOf(checkout: string): Facts {
  const read = (file: string) => readFileSync(join(checkout, file), 'utf8')
  const { version } = readJson(join(checkout, 'package.json'))
  const git = (...args: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', ['-C', checkout, ...args], { encoding: 'utf8' })
    return status === 0 ? stdout.trimEnd() : undefined
  }
  const lines = (text: string | undefined): readonly string[] => text?.split('\n').filter((line) => line !== '') ?? []
  return {
    version,
    lockVersion: readJson(join(checkout, 'package-lock.json')).version,
    compose: read('packaging/compose.yaml'),
    changelog: read('CHANGELOG.md'),
    contributing: read('CONTRIBUTING.md'),
    mustHold: MUST_HOLD,
    uncommitted: lines(git('status', '--porcelain')).map((line) => line.slice(3)),
    head: execFileSync('git', ['-C', checkout, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim(),
    tagged: git('rev-parse', '--verify', '--quiet', `v${version}^{commit}`),
    changedSince: (commit) => {
      if (git('merge-base', '--is-ancestor', commit, 'HEAD') === undefined) return undefined
      return lines(git('diff', '--name-only', commit, 'HEAD', '--', ...PRODUCT, ...BESIDE))
    },
    canSign: (key) => spawnSync('gpg', ['--batch', '--list-secret-keys', key], { stdio: 'ignore' }).status === 0,
  }
}
