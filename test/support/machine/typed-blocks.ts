export const PAGE_OF_OPERATIONS = 'docs/operations.md'

/** The blocks of the page that are typed on a booted machine with the package, by their headings in the page's order: `page.ts`. */
export const ON_ONE_MACHINE = [
  'Run blocked',
  'Zone moved',
  'Replace the key of a zone',
  'Backup',
  'Restore',
  'Rebuild',
  'From SQLite to PostgreSQL',
] as const

/** The sections that are typed on three booted machines: `machines-three.test.ts`. The second one ends what the first one made. */
export const ON_THREE_MACHINES = ['From one machine to three without downtime', 'Retire the Secondary'] as const

/** The blocks that a booted machine cannot carry out, by their headings, with the reason. They are run in the lab. */
export const IN_THE_LAB: Readonly<Record<string, string>> = {}
