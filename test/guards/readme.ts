import { join } from 'node:path'
import { GUARDS as MODEL_GUARDS } from '../model/guards.ts'
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
    '## In the model of runs',
    '',
    '`test/model/run-protocol-guards.test.ts` takes these out by stand-ins of the store and the world, in every `npm test`:',
    '',
    ...MODEL_GUARDS.map(({ name }) => `- ${name}`),
    '',
  ].join('\n')
