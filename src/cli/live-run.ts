import type { DrawbridgeClient } from '../client/client.ts'
import { print, standardOutput } from '../terminal/print.ts'
import { type StepsDisplay, stepsDisplay } from './steps-display.ts'

/** Applies the plan and shows its steps as they run. */
export async function applyLive(client: DrawbridgeClient, planId: string, json: boolean | undefined): Promise<void> {
  const done = await withSteps(planId, json, (onProgress) => client.applyPlan(planId, { onProgress }))
  const warnings = done.warnings.map((warning) => `Warning: ${warning}`)
  print({ body: done, lines: () => [...warnings, `Exposed: ${done.url}`] }, json)
}

/** Removes what the plan exposed and shows the steps as they run. */
export async function removeLive(client: DrawbridgeClient, planId: string, json: boolean | undefined): Promise<void> {
  const done = await withSteps(planId, json, (onProgress) => client.removePlan(planId, { onProgress }))
  print({ body: done, lines: () => [`Removed: ${done.host}`] }, json)
}

/** Ctrl-C ends this command but not the run, which belongs to the service; a line says so. */
async function withSteps<T>(
  planId: string,
  json: boolean | undefined,
  run: (onProgress: StepsDisplay['show'] | undefined) => Promise<T>,
): Promise<T> {
  const display = json ? undefined : stepsDisplay(standardOutput())
  const leave = () => {
    display?.finish()
    process.stderr.write(`The run continues on the service. \`drawbridge plans\` shows the result of ${planId}.\n`)
    process.exit(130)
  }
  process.once('SIGINT', leave)
  try {
    return await run(display?.show)
  } finally {
    display?.finish()
    process.off('SIGINT', leave)
  }
}
