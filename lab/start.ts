// What `npm start` runs.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkout, launcher } from './checkout.ts'
import { startLab } from './lab.ts'
import type { Flow } from './service-config.ts'
import { tour } from './tour.ts'

const HELP = `npm start -- [options]

  Brings up the lab (real BIND, nginx, Pebble and backends on loopback) with the service on it, until Ctrl-C.

  --flow capability|legacy   who may apply: with a one-time capability (usual), or as in the older flow
  --config FILE              no lab: runs the service on this configuration
  --help

  The lab keeps everything in .lab/, or in the folder that DRAWBRIDGE_LAB_STATE names.
`
const FLOWS: readonly string[] = ['capability', 'legacy'] satisfies Flow[]
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

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
  else if (isFlow(values.flow)) await runLab(values.flow)
  else throw new Error(`--flow is capability or legacy, not ${values.flow}.`)
}

const isFlow = (text: string): text is Flow => FLOWS.includes(text)

/** The service alone, in the foreground; its end is ours. */
function serveOnly(configFile: string): void {
  const service = spawn(process.execPath, [launcher(), 'serve', '--config', configFile], { stdio: 'inherit' })
  for (const signal of END_SIGNALS) process.on(signal, () => service.kill(signal))
  service.once('exit', (code) => process.exit(code ?? 1))
}

async function runLab(flow: Flow): Promise<void> {
  const state = process.env.DRAWBRIDGE_LAB_STATE || join(checkout(), '.lab')
  const end = new End()
  const startedAt = performance.now()
  const lab = await startLab({
    state,
    flow,
    onProgress: (part) => print(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${part}`),
    onLoss: (reason) => end.come(reason),
  })
  if (!end.hasCome) print(`Drawbridge ready at ${lab.description.api}\n${tour(lab.description, lab.state)}`)
  const reason = await end.coming
  await lab.stop()
  if (reason) throw reason
  print('Everything that was started is stopped.')
}

/** A signal ends the lab, and so does the loss of a part: then there is a reason to tell. The first one counts. */
class End {
  readonly coming: Promise<Error | undefined>
  hasCome = false
  #resolve: (reason: Error | undefined) => void = () => undefined

  constructor() {
    this.coming = new Promise((resolve) => {
      this.#resolve = resolve
    })
    for (const signal of END_SIGNALS) process.on(signal, () => this.come())
  }

  come(reason?: Error): void {
    this.hasCome = true
    this.#resolve(reason)
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
