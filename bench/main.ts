import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkout } from '../lab/checkout.ts'
import { END_SIGNALS } from '../lab/run.ts'
import { benchApply } from './apply.ts'
import { type PartName, parseArguments, USAGE } from './arguments.ts'
import { closeLab } from './bench-lab.ts'
import { compareWith } from './compare.ts'
import { benchAdding, benchConcurrent } from './concurrent.ts'
import { benchEdge } from './edge.ts'
import { benchModel } from './model.ts'
import { benchMonitor } from './monitor.ts'
import { benchPlan } from './plan.ts'
import { benchReads } from './reads.ts'
import { resultsPage } from './results-page.ts'
import { benchScale } from './scale.ts'
import { benchServe } from './serve.ts'
import { FULL, SHORT, type Sizes } from './sizes.ts'
import { benchStretches } from './stretches.ts'
import { meetsTarget, type PartResult, plainTable, type Row } from './table.ts'
import { versions } from './versions.ts'

const BENCHES: Record<PartName, (sizes: Sizes) => Promise<Row[]>> = {
  plan: benchPlan,
  apply: benchApply,
  edge: benchEdge,
  concurrent: benchConcurrent,
  reads: benchReads,
  monitor: benchMonitor,
  scale: benchScale,
  serve: benchServe,
  model: benchModel,
  stretches: benchStretches,
  adding: benchAdding,
}

/** `npm run bench`: runs the parts one after the other, each on its own lab, and prints one table. */
const order = parseArguments(process.argv.slice(2))
if (!order) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}
// A process that exits ends the programs that it started; one that a signal kills does not.
for (const signal of END_SIGNALS) process.once(signal, () => process.exit(130))
const results: PartResult[] = []
const sizes = order.isShort ? SHORT : FULL
for (const part of order.parts) results.push(await resultOf(part, () => BENCHES[part](sizes)))
const { compare } = order
if (compare !== undefined) results.push(await resultOf('compare', () => compareWith(compare, sizes)))
await closeLab()
const found = versions()
process.stdout.write(`${plainTable(results)}\n\n${found.join('\n')}\n`)
if (order.isWritten) writeFileSync(join(checkout(), 'docs', 'benchmarks.md'), resultsPage(results, found, new Date()))
// The figures of a short run mean nothing, so they cannot miss a target.
const isMissed = !order.isShort && results.some(({ rows }) => rows.some((row) => meetsTarget(row) === false))
if (isMissed || results.some(({ failure }) => failure !== undefined)) process.exitCode = 1

/** The next part runs even if this one fails. */
async function resultOf(part: string, measure: () => Promise<Row[]>): Promise<PartResult> {
  const started = performance.now()
  process.stderr.write(`${part} ... `)
  const { rows, failure } = await measure().then(
    (measured) => ({ rows: measured, failure: undefined }),
    (error: Error) => ({ rows: [], failure: error }),
  )
  const seconds = (performance.now() - started) / 1000
  process.stderr.write(failure ? `failed\n${failure.stack}\n` : `${seconds.toFixed(0)} s\n`)
  return { part, seconds, rows, ...(failure && { failure: failure.message.split('\n')[0] ?? '' }) }
}
