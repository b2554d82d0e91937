import type { DrawbridgeClient } from '../client/client.ts'
import { standardOutput, tell } from '../terminal/escape-text.ts'
import { liveSteps, noSteps, plainSteps, type StepsDisplay } from './steps-display.ts'

/** Gets the right to apply and uses it at once; the steps are shown as they go. */
export async function applyLive(client: DrawbridgeClient, planId: string, json: boolean | undefined): Promise<void> {
  const done = await shown(planId, json, (onProgress) => client.applyPlan(planId, { onProgress }))
  const warnings = done.warnings.map((warning) => `Warning: ${warning}`)
  tell({ body: done, lines: () => [...warnings, `On the air: ${done.url}`] }, json)
}

export async function removeLive(client: DrawbridgeClient, planId: string, json: boolean | undefined): Promise<void> {
  const done = await shown(planId, json, (onProgress) => client.removePlan(planId, { onProgress }))
  tell({ body: done, lines: () => [`Off the air: ${done.host}`] }, json)
}

/** A run with its steps on the screen. Whoever hangs up does not stop it: that is said before leaving. */
async function shown<T>(
  planId: string,
  json: boolean | undefined,
  run: (onProgress: StepsDisplay['show'] | undefined) => Promise<T>,
): Promise<T> {
  const display = await displayFor(json)
  const leave = () => {
    process.stderr.write(`\nThe run goes on without you; \`drawbridge plans\` shows how ${planId} ended.\n`)
    process.exit(130)
  }
  process.once('SIGINT', leave)
  try {
    return await run(json ? undefined : display.show)
  } finally {
    await display.finish()
    process.off('SIGINT', leave)
  }
}

async function displayFor(json: boolean | undefined): Promise<StepsDisplay> {
  if (json) return noSteps
  const screen = standardOutput()
  return screen.isTerminal ? liveSteps() : plainSteps(screen)
}
