import type { DrawbridgeClient } from '../client/client.ts'
import { print, standardOutput } from '../terminal/print.ts'
import { notePlan, noteShown, type StepsDisplay, stepsDisplay } from './steps-display.ts'

/** Applies the plan and shows its steps as they run. `adopts`: the plan takes a hand-written site under management. */
export async function applyLive(
  client: DrawbridgeClient,
  planId: string,
  json: boolean | undefined,
  adopts = false,
): Promise<void> {
  const done = await withSteps(client, planId, json, (onProgress) =>
    adopts ? client.adoptPlan(planId, { onProgress }) : client.applyPlan(planId, { onProgress }),
  )
  const lines = adopts
    ? [`Adopted: ${done.url}`, `To give it back: drawbridge release ${done.host}`]
    : [`Exposed: ${done.url}`]
  print({ body: done, lines: () => [...warningLines(done), ...lines] }, json)
}

/** Removes what the plan exposed and shows the steps as they run. */
export async function removeLive(client: DrawbridgeClient, planId: string, json: boolean | undefined): Promise<void> {
  const done = await withSteps(client, planId, json, (onProgress) => client.removePlan(planId, { onProgress }))
  print({ body: done, lines: () => [`Removed: ${done.host}`] }, json)
}

/** Writes an applied plan again and shows the steps as they run. */
export async function repairLive(
  client: DrawbridgeClient,
  planId: string,
  overwrite: boolean,
  json: boolean | undefined,
): Promise<void> {
  const done = await withSteps(client, planId, json, (onProgress) =>
    client.repairPlan(planId, { overwrite, onProgress }),
  )
  print({ body: done, lines: () => [...warningLines(done), `Repaired: ${done.url}`] }, json)
}

/** Accepts a host as it stands, or releases one that is as its plan says, and shows the steps as they run. */
export async function acceptLive(
  client: DrawbridgeClient,
  planId: string,
  json: boolean | undefined,
  releases = false,
): Promise<void> {
  const done = await withSteps(client, planId, json, (onProgress) =>
    releases ? client.releasePlan(planId, { onProgress }) : client.acceptPlan(planId, { onProgress }),
  )
  const file = done.file === null ? [] : [`Its entry is now in ${done.file}`, ...(releases ? [EDIT] : [])]
  const released = `Released: ${done.host} is no longer managed by Drawbridge.`
  print({ body: done, lines: () => [...warningLines(done), released, ...file] }, json)
}

const EDIT = 'It is yours to edit there. After a change run: nginx -t && nginx -s reload'

/** Renews the certificate of the plan's host and shows the steps as they run. */
export async function renewLive(client: DrawbridgeClient, planId: string, json: boolean | undefined): Promise<void> {
  const done = await withSteps(client, planId, json, (onProgress) => client.renewPlan(planId, { onProgress }))
  const { names, notAfter, source } = done.certificate
  const how =
    source === 'issued'
      ? 'The certificate authority issued the certificate now'
      : 'The certificate was already installed'
  const served = `${done.host} is served with a certificate for ${names.join(', ')}, valid until ${notAfter}. ${how}.`
  print({ body: done, lines: () => [...warningLines(done), served] }, json)
}

const warningLines = ({ warnings }: { readonly warnings: readonly string[] }): string[] =>
  warnings.map((warning) => `Warning: ${warning}`)

const SHOW_CURSOR = '\u001b[?25h'

/** Shows the steps of the plan's newest run until it ends; `isSilent`: only waits for that. */
export async function followLive(client: DrawbridgeClient, planId: string, isSilent: boolean): Promise<void> {
  await withSteps(client, planId, isSilent, async (onProgress) => {
    for await (const event of client.followPlan(planId)) onProgress?.(event)
  })
}

/** Ctrl-C ends this command but not the run, which belongs to the service; a line says so. */
async function withSteps<T>(
  { clock }: Pick<DrawbridgeClient, 'clock'>,
  planId: string,
  json: boolean | undefined,
  run: (onProgress: StepsDisplay['show'] | undefined) => Promise<T>,
): Promise<T> {
  const display = json ? undefined : stepsDisplay(standardOutput(), clock)
  const leave = () => {
    display?.finish()
    const cursor = process.stderr.isTTY ? SHOW_CURSOR : ''
    process.stderr.write(
      `${cursor}\nThe run goes on without this command.\nFollow it: drawbridge plans show ${planId} --follow\n`,
    )
    process.exit(130)
  }
  process.once('SIGINT', leave)
  let count = 0
  const show =
    display &&
    ((event: Parameters<StepsDisplay['show']>[0]) => {
      count += 1
      display.show(event)
    })
  try {
    return await run(show)
  } catch (error) {
    notePlan(error, planId)
    if (count > 0) noteShown(error)
    throw error
  } finally {
    display?.finish()
    process.off('SIGINT', leave)
  }
}
