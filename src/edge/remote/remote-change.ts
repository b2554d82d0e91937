import { randomBytes } from 'node:crypto'
import type { HostFence } from '../../model/run.ts'
import { untilAborted } from '../../primitives/abort.ts'
import { parsePath } from '../config/layout.ts'
import { EdgeFault, type EdgeFile, type EdgeProposal } from '../contract.ts'
import type { WireChange, WireVerdict } from '../wire/verbs.ts'
import { type AgentClient, agentFault, NoAnswer, UnknownVerb } from './agent-client.ts'

/** How often a change is proposed again because others have changed the same files at the same time. */
const PROPOSALS = 6
/** How long an agent that does not answer is asked what became of a change. */
const PATIENCE_MS = 20_000
const PAUSE_MS = 100
/** What a message needs to arrive: the lease must not end on its way. */
const MARGIN_MS = 50

/**
 * Makes a change through an agent. What shall stand is decided here, by what the agent says stands, and the agent compares again. A
 * change whose answer did not come is never guessed: the agent is asked for its verdict, and a change that it never got is refused
 * there from then on.
 */
export async function changeThrough(client: AgentClient, proposal: EdgeProposal): Promise<void> {
  for (let proposed = 1; ; proposed += 1) {
    proposal.signal?.throwIfAborted()
    const id = randomBytes(16).toString('hex')
    const verdict = await untilAborted(sendOnce(client, proposal, id), proposal.signal).catch(
      async (error: unknown) => {
        // Whoever undoes the run must see what stands in the end.
        if (proposal.signal?.aborted) await withdraw(client, id)
        throw error
      },
    )
    if (verdict.state === 'done') return
    if (verdict.state === 'refused') {
      // Somebody else's edit is refused by the proposal itself.
      if (verdict.fault.kind === 'changed_meanwhile' && proposed < PROPOSALS) continue
      throw agentFault(client.server, verdict.fault)
    }
    // A lease that has ended throws here. One that was renewed while the change waited does not.
    await proposal.ensureHeld?.()
    proposal.assertHeld()
    if (proposed >= PROPOSALS)
      throw new EdgeFault('not_reloaded', `The agent of edge ${client.server} could not make the change in time.`)
  }
}

async function sendOnce(client: AgentClient, proposal: EdgeProposal, id: string): Promise<WireVerdict> {
  const { files, expected, replacesLinks = false, mends = false } = await proposal.propose()
  const fences = await wireFences(client, proposal.fences ?? (await presentFences(client, files)))
  await proposal.ensureHeld?.()
  proposal.assertHeld()
  const heldForMs = proposal.heldForMs ? Math.max(0, Math.floor(proposal.heldForMs()) - MARGIN_MS) : null
  try {
    return await client.change(
      {
        id,
        heldForMs,
        files: files.map(({ path, content, secret, link }) => ({
          path,
          content,
          secret,
          ...(link !== undefined && { link }),
        })),
        expected: expected.map(({ path, hash }) => ({ path, hash })),
        replacesLinks,
        mends,
        fences,
        ...(proposal.run && (await knowsStores(client)) && { run: { ...proposal.run } }),
      },
      (line) => {
        if ('point' in line) proposal.reached?.(line.point)
      },
    )
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return verdictOf(client, id, error, proposal.signal)
  }
}

/** An agent that has told no floors is of a version that knows neither stores nor their runs. */
const knowsStores = async (client: AgentClient): Promise<boolean> => (await client.describe()).floors !== undefined

export async function wireFences(client: AgentClient, fences: readonly HostFence[]): Promise<WireChange['fences']> {
  const isTold = await knowsStores(client)
  return fences.map(({ host, epoch, number, store }) => ({
    ...{ host, epoch, number },
    ...(isTold && store !== undefined && { store }),
  }))
}

/** Resolves when the change is entered, or cannot be any more; also where the agent does not answer: its lease ends it there. */
const withdraw = (client: AgentClient, id: string): Promise<unknown> =>
  client
    .call('withdraw', { id })
    .catch((error: unknown) => (error instanceof UnknownVerb ? client.call('verdict', { id }) : undefined))
    .catch(() => undefined)

/** A person who restores a backup has no run. What newer runs change meanwhile is refused to him as to every other. */
async function presentFences(client: AgentClient, files: readonly EdgeFile[]): Promise<readonly HostFence[]> {
  const hosts = new Set(
    files.flatMap(({ path }) => {
      const parsed = parsePath(path)
      return 'host' in parsed ? [parsed.host] : []
    }),
  )
  const known = new Map((await client.call('fences-of', [...hosts])).map((fence) => [fence.host, fence]))
  return [...hosts].map((host) => known.get(host) ?? { host, epoch: 0, number: 0 })
}

async function verdictOf(
  client: AgentClient,
  id: string,
  lost: NoAnswer,
  signal: AbortSignal | undefined,
): Promise<WireVerdict> {
  const { clock } = client
  const giveUpAt = clock.monotonic() + PATIENCE_MS
  for (;;) {
    const verdict = await client.call('verdict', { id }, signal).catch((error: unknown) => {
      signal?.throwIfAborted()
      if (error instanceof EdgeFault && error.kind === 'away') return undefined
      throw error
    })
    if (verdict && verdict.state !== 'running') return verdict
    if (!verdict && clock.monotonic() > giveUpAt)
      throw new EdgeFault('not_reloaded', `${lost.message} Whether the change was made is not known.`)
    await clock.sleep(PAUSE_MS, { signal })
    signal?.throwIfAborted()
  }
}
