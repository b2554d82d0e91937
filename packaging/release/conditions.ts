/** What a release is judged by. Everything but the functions is the text of a file, or what git says. */
export interface Facts {
  readonly version: string
  readonly lockVersion: string
  readonly compose: string
  readonly changelog: string
  /** Has the table of campaigns, with the commit at which each was green last. */
  readonly contributing: string
  readonly mustHold: readonly string[]
  /** As `git status --porcelain` prints them. */
  readonly uncommitted: readonly string[]
  readonly head: string
  /** The commit that the tag of this version names. */
  readonly tagged: string | undefined
  /** The files of the product that differ between a commit and the present one. Undefined for a commit that is not in its history. */
  readonly changedSince: (commit: string) => readonly string[] | undefined
  /** Whether GnuPG can sign with this key. */
  readonly canSign: (key: string) => boolean
}

/** Every reason for which this checkout is no release, a sentence each. Empty if it is one. */
export function refusals(facts: Facts, key: string | undefined): readonly string[] {
  return [
    ...versions(facts),
    ...changes(facts),
    ...campaignsIn(facts.contributing).flatMap((campaign) => notGreen(campaign, facts)),
    ...facts.mustHold.map((sentence) => `Not shown yet: ${sentence}`),
    ...signature(facts, key),
  ]
}

function versions({ version, lockVersion, compose, changelog }: Facts): string[] {
  const [, image] = /^\s*image: drawbridge:(\S+)$/m.exec(compose) ?? []
  const heading = /^## (.*)$/m.exec(changelog)?.[1] ?? ''
  return [
    ...(/^\d+\.\d+\.\d+$/.test(version)
      ? []
      : [`package.json has version ${version}, which is not of the form 1.2.3.`]),
    ...(lockVersion === version ? [] : [`package-lock.json has version ${lockVersion}, and package.json ${version}.`]),
    ...(image === version ? [] : [`packaging/compose.yaml names version ${image}, and package.json ${version}.`]),
    ...(isReleased(heading, version)
      ? []
      : [`CHANGELOG.md begins with "${heading}". It has to begin with "${version} (YEAR-MONTH-DAY)".`]),
  ]
}

const isReleased = (heading: string, version: string): boolean =>
  heading.startsWith(`${version} (`) && /^\(\d{4}-\d\d-\d\d\)$/.test(heading.slice(version.length + 1))

function changes({ version, uncommitted, tagged, head }: Facts): string[] {
  return [
    ...(uncommitted.length === 0 ? [] : [`These files are not committed: ${someOf(uncommitted)}.`]),
    ...(tagged === undefined || tagged === head ? [] : [`v${version} is the tag of another commit, ${tagged}.`]),
  ]
}

export interface Campaign {
  readonly name: string
  /** Where it was green last. */
  readonly commit: string | undefined
}

/** The rows of the table of campaigns. Its last column has a time, and the commit in brackets. */
export function campaignsIn(contributing: string): readonly Campaign[] {
  const [, table = ''] = contributing.split('\n### Campaigns\n')
  const rows = table.split('\n## ')[0]?.matchAll(/^\| `([^`]+)` \|.*\| *([^|]*?) *\|$/gm) ?? []
  return [...rows].map(([, name = '', takes = '']) => ({ name, commit: /\(([0-9a-f]{7,40})\)$/.exec(takes)?.[1] }))
}

function notGreen({ name, commit }: Campaign, { changedSince }: Facts): string[] {
  if (commit === undefined) return [`The campaign ${name} tells no commit at which it was green.`]
  const changed = changedSince(commit)
  if (changed === undefined) return [`The campaign ${name} was green at ${commit}, which is not in the history.`]
  if (changed.length === 0) return []
  return [`The campaign ${name} was green at ${commit}. These files have changed since: ${someOf(changed)}.`]
}

function signature({ canSign }: Facts, key: string | undefined): string[] {
  if (key === undefined) return ['No key signs it. Pass --key with the id of a key in your GnuPG.']
  return canSign(key) ? [] : [`Your GnuPG has no secret key ${JSON.stringify(key)}.`]
}

const SHOWN = 3

const someOf = (all: readonly string[]): string =>
  all.length > SHOWN ? `${all.slice(0, SHOWN).join(', ')} and ${all.length - SHOWN} more` : all.join(', ')
