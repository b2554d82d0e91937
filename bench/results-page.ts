import earlier from './earlier.json' with { type: 'json' }
import { firstTable, type PartResult, pageTable } from './table.ts'

/** The text of docs/benchmarks.md. */
export function resultsPage(results: readonly PartResult[], versions: readonly string[], at: Date): string {
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0)
  const parts = results.map(({ part, seconds: took }) => `${part} ${took.toFixed(0)} s`)
  return `# Benchmarks

\`npm run bench\` measures everything on one machine and writes what has a target to this page. \`npm run bench -- PART\` prints one part;
\`compare COMMIT\` measures another version in turns with this one, which fails if it is slower by a tenth. Only ratios of one run can be
compared. What an apply takes is in [scale](scale.md).

Measured on ${at.toISOString().slice(0, 10)} in ${Math.ceil(seconds / 60)} minutes (${parts.join(', ')}):

${versions.map((version) => `- ${version}`).join('\n')}

The network is the lab on loopback: BIND, two nginx edges with one worker each, Pebble; all clients run on the same processors. Hosts
that are only there to be many are written directly, and the monitor checks every host every 30 s. "Bare" is nginx without
Drawbridge: \`nginx -t\`, then HUP until the old workers take no more connections; on the first page one more host
of two blocks, until it is served. The p50 of a row is judged.

The first page, beside what earlier versions took (\`bench/earlier.json\`):

${earlier.map(({ commit, date, machine }) => `- ${commit}, measured on ${date}, ${machine}`).join('\n')}

\`\`\`
${firstTable(results[0]?.rows ?? [], earlier)}
\`\`\`

All measures with a target:

\`\`\`
${pageTable(results)}
\`\`\`
`
}
