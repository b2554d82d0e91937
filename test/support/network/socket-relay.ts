import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { AGENT_SOCKET } from '../../../network/plan.ts'
import type { TestNetwork } from './network.ts'
import type { Cut, Seen } from './socket-relay-program.ts'

/** The connection between the service on 23 and its agent, which can be cut at every message. */
export class SocketRelay {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(network: TestNetwork): Promise<SocketRelay> {
    const program = join(import.meta.dirname, 'socket-relay-program.ts')
    const inside = [`--target=${network.pidOf('23', 'edge')}`, '--net', '--mount', '--']
    const child = spawn('nsenter', [...inside, process.execPath, program, AGENT_SOCKET], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    return new SocketRelay(child)
  }

  /** Counts messages from now on, and cuts the connection at one of them. */
  async cutAt(cut: Cut): Promise<void> {
    await this.#ask(cut)
  }

  seen(): Promise<Seen> {
    return this.#ask('seen')
  }

  /** The service reaches the agent directly again. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }

  async #ask(order: Cut | 'seen'): Promise<Seen> {
    const answered = once(this.#child, 'message')
    this.#child.send(order)
    const [seen] = await answered
    return seen as Seen
  }
}
