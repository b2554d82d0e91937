/**
 * Another service on the edge in its first argument: places or removes one host under its fences, and prints the kind of its
 * fault, or nothing.
 */
import { EdgeFault } from '../../../src/edge/contract.ts'
import { localEdge } from '../../../src/edge/local.ts'

const [settings = '', change = ''] = process.argv.slice(2)
const edge = localEdge(JSON.parse(settings))
const { host, planId, target, fences } = JSON.parse(change)

try {
  const files = target === null ? await edge.filesWithout(host) : await edge.filesFor({ host, planId, target })
  const expected = await edge.hashFiles(files.map(({ path }) => path))
  await edge.validate({ files, expected })
  await edge.swap({ files, expected, fences })
  await edge.reload({ fences })
} catch (error) {
  process.stdout.write(error instanceof EdgeFault ? error.kind : String(error))
}
