import earlier from './earlier.json' with { type: 'json' }
import { firstTable, type PartResult, pageTable } from './table.ts'

/** The text of docs/benchmarks.md. */
export function resultsPage(results: readonly PartResult[], versions: readonly string[], at: Date): string {
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0)
  const parts = results.map(({ part, seconds: took }) => `${part} ${took.toFixed(0)} s`)
  return `# Benchmarks

\`npm run bench\` measures everything on one machine, prints every measure with its spread, and writes those that have a target to this page.
\`npm run bench -- PART\` measures and prints one part. \`npm run bench -- compare COMMIT\` builds a commit and measures both versions in
turns; a version that is slower by a tenth fails. Times of different machines cannot be compared; ratios of one run can. What an apply
takes is in [scale](scale.md).

Measured on ${at.toISOString().slice(0, 10)} in ${Math.ceil(seconds / 60)} minutes (${parts.join(', ')}):

${versions.map((version) => `- ${version}`).join('\n')}

The network is the lab on loopback: real BIND, two nginx edges with one worker each, Pebble. All clients run on the same
processors. Hosts that are only there to be many are written into the store, the zone and both edges in one go, and the monitor
checks every host every 30 s while the others are measured. "Bare" is nginx without Drawbridge: \`nginx -t\`, then HUP until the
old workers take no more connections; on the first page it is one more host of two blocks, until nginx serves it. A target is
judged by the p50 of its row.

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
