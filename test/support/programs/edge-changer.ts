/**
 * Another service on the edge in its first argument: places or removes one host under its fence, and prints the kind of its
 * fault, or nothing.
 */
import { EdgeFault } from '../../../src/edge/contract.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { changeHost, placeSite } from '../edge/edge.ts'

const [settings = '', change = ''] = process.argv.slice(2)
const edge = localEdge({ ...JSON.parse(settings), clock: systemClock })
const { host, planId, target, fence } = JSON.parse(change)

try {
  await (target === null
    ? changeHost(edge, host, 'absent', { fence })
    : placeSite(edge, { host, planId, target }, { fence }))
} catch (error) {
  process.stdout.write(error instanceof EdgeFault ? error.kind : String(error))
}
