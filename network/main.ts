// The program behind `npm run network`.
import { join } from 'node:path'
import { checkout } from '../lab/checkout.ts'
import { askNetwork } from './control.ts'
import { runNetwork } from './network.ts'
import { pathsIn } from './paths.ts'

const HELP = `npm run network                               builds the network of the specification; Ctrl-C removes it
npm run network -- stop MACHINE PART          stops one part of the network that runs, such as 23 nginx
npm run network -- start MACHINE PART [N=V]…  starts it again, with environment variables for this start only

  Machines are network namespaces: 23, 73, 25, 253, 10, ca, public. It must run as root and needs no internet.
  It keeps everything in .network/, or in the folder that DRAWBRIDGE_NETWORK_STATE names.
`

async function main([action, machine, part, ...variables]: readonly string[]): Promise<void> {
  const state = process.env.DRAWBRIDGE_NETWORK_STATE || join(checkout(), '.network')
  if (action === undefined) return runNetwork({ state })
  if (action === '--help') return void process.stdout.write(HELP)
  const isWrong = action === 'stop' ? variables.length > 0 : !variables.every((text) => /^\w+=/.test(text))
  if ((action !== 'start' && action !== 'stop') || machine === undefined || part === undefined || isWrong)
    throw new Error(`Usage:\n${HELP}`)
  const environment = Object.fromEntries(variables.map((text) => text.split(/=(.*)/s, 2)))
  await askNetwork(pathsIn(state).control, { action, machine, part, environment })
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
