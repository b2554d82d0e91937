// Stands between the services of a machine and the unix socket of its agent, and cuts connections when its parent says so. It is
// started on the machine of the agent. Arguments: the path of the socket.
import { chmodSync, chownSync, renameSync, statSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/** Which message is cut: the one with this number since the order. `answer`: it arrives, and its answer does not. */
export interface Cut {
  readonly message: number
  readonly side: 'message' | 'answer'
  /** How long the agent cannot be reached after it. */
  readonly awayMs: number
}

/** The verbs of all messages since the last order, and whether the cut was made. */
export interface Seen {
  readonly verbs: readonly string[]
  readonly wasCut: boolean
}

const [, , path = ''] = process.argv
const agent = `${path}.agent`
const pairs = new Set<readonly [Socket, Socket]>()
let cut: Cut | undefined
let verbs: string[] = []
let wasCut = false
let awayUntil = 0

function cutAll(awayMs: number): void {
  wasCut = true
  cut = undefined
  awayUntil = performance.now() + awayMs
  for (const pair of pairs) for (const socket of pair) socket.destroy()
}

function relay(service: Socket): void {
  if (performance.now() < awayUntil) return void service.destroy()
  const target = connect(agent)
  const pair = [service, target] as const
  pairs.add(pair)
  let answerIsCut: Cut | undefined
  service.on('data', (chunk) => {
    const [, verb] = /^POST \/v\d+\/(\S+) /.exec(chunk.subarray(0, 60).toString()) ?? []
    if (verb !== undefined) verbs.push(verb)
    const isChosen = verb !== undefined && cut?.message === verbs.length
    if (isChosen && cut?.side === 'message') return cutAll(cut.awayMs)
    if (isChosen) answerIsCut = cut
    target.write(chunk)
  })
  target.on('data', (chunk) => {
    if (answerIsCut) return cutAll(answerIsCut.awayMs)
    service.write(chunk)
  })
  for (const [one, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
    one.on('error', () => other.destroy())
    one.on('close', () => {
      pairs.delete(pair)
      other.destroy()
    })
  }
}

const { gid } = statSync(path)
renameSync(path, agent)
const server = createServer(relay)
server.listen(path, () => {
  chownSync(path, 0, gid)
  chmodSync(path, 0o660)
  process.send?.({ verbs, wasCut } satisfies Seen)
})
process.on('message', (order: Cut | 'seen') => {
  if (order === 'seen') return void process.send?.({ verbs, wasCut } satisfies Seen)
  verbs = []
  wasCut = false
  cut = order
  process.send?.({ verbs, wasCut } satisfies Seen)
})
process.once('disconnect', () => {
  // The name of the socket goes back to the agent before the server could remove it.
  renameSync(agent, path)
  process.exit(0)
})
