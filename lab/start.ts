// What `npm start` runs.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkout, launcher } from './checkout.ts'
import { END_SIGNALS, runLab } from './run.ts'
import type { Flow } from './service-config.ts'

const HELP = `npm start -- [options]

  Brings up the lab (real BIND, nginx, Pebble and backends on loopback) with the service on it, until Ctrl-C.

  --flow capability|legacy   who may apply: with a one-time capability (usual), or as in the older flow
  --config FILE              no lab: runs the service on this configuration
  --help

  The lab keeps everything in .lab/, or in the folder that DRAWBRIDGE_LAB_STATE names.
`
const FLOWS: readonly string[] = ['capability', 'legacy'] satisfies Flow[]

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      flow: { type: 'string', default: 'capability' },
      config: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) process.stdout.write(HELP)
  else if (values.config !== undefined) serveOnly(values.config)
  else if (isFlow(values.flow)) await runLab({ state: stateFolder(), flow: values.flow })
  else throw new Error(`--flow is capability or legacy, not ${values.flow}.`)
}

const isFlow = (text: string): text is Flow => FLOWS.includes(text)

const stateFolder = (): string => process.env.DRAWBRIDGE_LAB_STATE || join(checkout(), '.lab')

/** The service alone, in the foreground; its end is ours. */
function serveOnly(configFile: string): void {
  const service = spawn(process.execPath, [launcher(), 'serve', '--config', configFile], { stdio: 'inherit' })
  for (const signal of END_SIGNALS) process.on(signal, () => service.kill(signal))
  service.once('exit', (code) => process.exit(code ?? 1))
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
