// The program behind `npm start`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkout, launcher } from './checkout.ts'
import { END_SIGNALS, runLab } from './run.ts'
import type { Flow } from './service-config.ts'

const HELP = `npm start -- [options]

  Starts the lab (real BIND, nginx, Pebble and backends on loopback) with the service. Ctrl-C ends it.

  --flow capability|legacy   who may apply: callers with a one-time capability (default), or as in the legacy flow
  --config FILE              no lab: run the service with this configuration
  --demo                     makes ten exposures in every state, to look at
  --tour                     also prints a tour of the API to paste into another shell
  --help

  The lab keeps everything in .lab/, or in the folder that DRAWBRIDGE_LAB_STATE names.
`
const FLOWS: readonly string[] = ['capability', 'legacy'] satisfies Flow[]

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      flow: { type: 'string', default: 'capability' },
      config: { type: 'string' },
      demo: { type: 'boolean', default: false },
      tour: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) process.stdout.write(HELP)
  else if (values.config !== undefined) serveOnly(values.config)
  else if (isFlow(values.flow))
    await runLab({ state: stateFolder(), flow: values.flow, demo: values.demo, withTour: values.tour })
  else throw new Error(`--flow ${values.flow} is invalid. Use capability or legacy.`)
}

const isFlow = (text: string): text is Flow => FLOWS.includes(text)

const stateFolder = (): string => process.env.DRAWBRIDGE_LAB_STATE || join(checkout(), '.lab')

/** Runs the service alone in the foreground and exits with its exit code. */
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
