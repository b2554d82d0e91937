import { randomBytes } from 'node:crypto'
import { escapeText } from '../../model/escape-text.ts'
import type { HostFence } from '../../model/run.ts'
import { untilAborted } from '../../primitives/abort.ts'
import type { Change, ChangeOptions, HostVerdict } from '../contract/change.ts'
import { EdgeFault } from '../contract/fault.ts'
import type { WireChange, WireVerdict } from '../wire/verbs.ts'
import type { AgentClient } from './agent-client.ts'
import { agentFault, NoAnswer } from './agent-fault.ts'

/** How often a change is sent again after its lease had ended before it was entered, and was renewed. */
const SENDINGS = 6
/** How long to ask a silent agent for the verdict of a change. */
const PATIENCE_MS = 20_000
const PAUSE_MS = 100
/** The time for a message to arrive: the lease must not end on its way. */
const MARGIN_MS = 50

/**
 * Makes a change through an agent. No reply: ask for the verdict by id, never guess. From then on, the agent refuses a change that
 * it has not received.
 */
export async function changeThrough(
  client: AgentClient,
  change: Change,
  options: ChangeOptions = {},
): Promise<readonly HostVerdict[]> {
  const { signal } = options
  /** A sending was lost, and the agent does not know it: an agent that has ended since may have made it. */
  let isInDoubt = false
  for (let sent = 1; ; sent += 1) {
    signal?.throwIfAborted()
    const id = randomBytes(16).toString('hex')
    const verdict = await untilAborted(sendOnce(client, change, options, id), signal).catch(async (error: unknown) => {
      // The undo of the run must see the final state.
      if (signal?.aborted) await withdraw(client, id)
      throw isInDoubt ? inDoubt(error) : error
    })
    if (verdict.state === 'done') return verdictsIn(client, change, verdict)
    if (verdict.state === 'refused') {
      const fault = agentFault(client.server, verdict.fault)
      throw isInDoubt ? inDoubt(fault) : fault
    }
    isInDoubt ||= verdict.state === 'unknown'
    // Throws if the lease has ended and was not renewed while the change waited.
    await options.ensureHeld?.()
    options.assertHeld?.()
    if (sent >= SENDINGS)
      throw new EdgeFault('not_reloaded', `The agent of edge ${client.server} could not make the change in time.`)
  }
}

/** The kinds of other faults would say that nothing live was changed. A newer run undoes nothing of this one, so `fenced` stays. */
const inDoubt = (error: unknown): unknown =>
  error instanceof EdgeFault && !['fenced', 'not_reloaded'].includes(error.kind)
    ? new EdgeFault('not_reloaded', `${error.message} ${NOT_KNOWN}`, error.said)
    : error

const NOT_KNOWN = 'Whether the change was made is not known.'

/** Rejects an answer about other hosts than the requested ones. */
function verdictsIn(
  { server }: AgentClient,
  { items }: Change,
  { hosts }: Extract<WireVerdict, { state: 'done' }>,
): readonly HostVerdict[] {
  if (hosts.length !== items.length || items.some(({ host }, at) => hosts[at]?.host !== host))
    throw new EdgeFault(
      'not_reloaded',
      `The agent of edge ${server} gave a verdict on other hosts than it was asked for.`,
    )
  return hosts.map((one) => {
    if (one.state === 'refused') return { host: one.host, state: one.state, fault: agentFault(server, one.fault) }
    return { ...one, ...(one.released !== undefined && { released: escapeText(one.released) }) }
  })
}

async function sendOnce(
  client: AgentClient,
  { items, run, settles, floor }: Change,
  options: ChangeOptions,
  id: string,
): Promise<WireVerdict> {
  await options.ensureHeld?.()
  options.assertHeld?.()
  const change: WireChange = {
    id,
    heldForMs: heldForMs(options),
    items: items.map(({ host, fence, expected, wanted, mend, takesOver }) => ({
      ...{ host, fence: wireFence(fence), expected, wanted: wanted as WireChange['items'][number]['wanted'] },
      ...(mend && { mend }),
      ...(takesOver && {
        takesOver: { plan: takesOver.plan, ...(takesOver.text !== undefined && { text: takesOver.text }) },
      }),
    })),
    ...(run && { run: { ...run } }),
    ...(settles && { settles: [...settles] }),
    ...(floor && { floor: { ...floor } }),
  }
  try {
    return await client.change(change, (line) => {
      if ('point' in line) options.onCrashPoint?.(line.point)
    })
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return verdictOf(client, id, error, options.signal)
  }
}

export const heldForMs = (options: ChangeOptions): number | null =>
  options.heldForMs ? Math.max(0, Math.floor(options.heldForMs()) - MARGIN_MS) : null

export const wireFence = ({ host, epoch, number, store }: HostFence) => ({
  ...{ host, epoch, number },
  ...(store !== undefined && { store }),
})

/**
 * Resolves when the change is entered, or can no longer be entered. Also resolves if the agent does not answer: the lease ends the
 * change there.
 */
const withdraw = (client: AgentClient, id: string): Promise<unknown> =>
  client.change({ id, withdraw: true }, () => undefined).catch(() => undefined)

/** Asks again whatever the agent says, unless it is the verdict: a lost change may have been made. */
async function verdictOf(
  client: AgentClient,
  id: string,
  lost: NoAnswer,
  signal: AbortSignal | undefined,
): Promise<WireVerdict> {
  const { clock } = client
  const giveUpAt = clock.monotonic() + PATIENCE_MS
  let last: EdgeFault = lost
  for (;;) {
    const verdict = await client
      .change({ id, withdraw: false }, () => undefined)
      .catch((error: unknown) => {
        signal?.throwIfAborted()
        if (!(error instanceof EdgeFault)) throw error
        last = error
        return undefined
      })
    if (verdict && verdict.state !== 'running') return verdict
    if (!verdict && clock.monotonic() > giveUpAt)
      throw new EdgeFault('not_reloaded', `${last.message} ${NOT_KNOWN}`, last.said)
    await clock.sleep(PAUSE_MS, { signal })
    signal?.throwIfAborted()
  }
}
