/**
 * Another service on the edge in its first argument: places or removes one host under its fences, and prints the kind of its
 * fault, or nothing.
 */
import { EdgeFault } from '../../../src/edge/contract.ts'
import { localEdge } from '../../../src/edge/local.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { proposalOf } from '../edge/edge.ts'

const [settings = '', change = ''] = process.argv.slice(2)
const edge = localEdge({ ...JSON.parse(settings), clock: systemClock })
const { host, planId, target, fences } = JSON.parse(change)

try {
  const propose = () => (target === null ? edge.filesWithout(host) : edge.filesFor({ host, planId, target }))
  await edge.change(proposalOf(edge, propose, { fences }))
} catch (error) {
  process.stdout.write(error instanceof EdgeFault ? error.kind : String(error))
}
