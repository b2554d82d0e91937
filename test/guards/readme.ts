import { join } from 'node:path'
import { GUARDS as PROTOCOL_GUARDS } from '../world/protocol/guards.ts'
import { ALL_GUARDS, GUARDS } from './guards.ts'

export const README = join(import.meta.dirname, 'README.md')

/** The page of the guards. The runner writes it when every guard of the table turned its test red. */
export const readme = (): string =>
  [
    '# Guards',
    '',
    'A guard is one check in the source that protects a promise. `npm run campaign -- guards` takes each of them out of a copy',
    'of the checkout by itself, and runs the one test file that has to turn red. It fails if a file stays green, and writes',
    'this page if none does. `--only NAME` takes out one guard, and may be repeated; `--from NAME` goes on at one.',
    '',
    `${ALL_GUARDS.length} guards.`,
    ...Object.entries(GUARDS).flatMap(([subject, guards]) => [
      '',
      `## ${subject}`,
      '',
      '| guard | without it | in `src/` | turns red in `test/` |',
      '|---|---|---|---|',
      ...guards.map(
        ({ name, breaks, file, test }) =>
          `| ${name} | ${breaks} | \`${file.replace('src/', '')}\` | \`${test.replace('test/', '')}\` |`,
      ),
    ]),
    '',
    '## Of the run protocol',
    '',
    '`test/world/protocol/protocol.test.ts` takes these out by stand-ins of the store, in every `npm test`:',
    '',
    ...PROTOCOL_GUARDS.map(({ name }) => `- ${name}`),
    '',
  ].join('\n')
